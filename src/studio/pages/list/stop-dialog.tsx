import { useSignal } from '@preact/signals';
import { type CampaignJson, cacheTtlSeconds, getCampaignName } from '../../campaign/campaign-json.ts';
import { formatDuration } from '../../campaign/describe-fields.ts';
import type { CampaignVersions } from '../../server/routes/campaigns.ts';
import { call } from '../call.ts';
import { Dialog, NoteField } from '../components/dialog.tsx';
import { wholeMoment } from '../components/format.ts';
import { campaignPath, Link } from '../shell/router.tsx';

interface TakeDownDialogProps {
  row: CampaignVersions;
  /** `archive` is for campaigns that no longer run. */
  verb: 'stop' | 'archive';
  onClose(): void;
  onDone(): Promise<void>;
}

/** Maximum cache time of a campaign for which the dialog gives no advice. */
const SOON_SECONDS = 600;

/** Maximum time that pages may continue to show a stopped campaign, with advice to shorten it. */
const StopEffect = ({ id, campaign }: { id: string; campaign: CampaignJson }) => {
  const kept = cacheTtlSeconds(campaign);
  return (
    <>
      <p>
        No longer served. Pages that cached it stop showing it{' '}
        {kept === null ? 'half an hour after the last visit' : `within ${formatDuration(kept)}`}.
      </p>
      {(kept === null || kept > SOON_SECONDS) && (
        <p>
          Sooner only if the site calls <code>refresh()</code>. Next time,{' '}
          <Link to={campaignPath(id, '#expires')}>limit the cache</Link>.
        </p>
      )}
    </>
  );
};

/** Dialog that stops or archives a campaign after confirmation. */
export const StopDialog = ({ row, verb, onClose, onDone }: TakeDownDialogProps) => {
  const note = useSignal('');
  const { campaign } = row.published!;
  const name = getCampaignName(campaign);
  const isStop = verb === 'stop';
  const act = async () => {
    const path = `/api/campaigns/${encodeURIComponent(row.id)}/${verb}`;
    await call('POST', path, { body: { note: note.value, based_on: row.newest } });
    return isStop ? `${name} is stopped.` : `${name} is in the archive.`;
  };
  return (
    <Dialog
      title={isStop ? `Stop “${name}”?` : `Archive “${name}”?`}
      onClose={onClose}
      action={{ name: isStop ? 'Stop campaign' : 'Archive campaign', act }}
      onDone={onDone}
    >
      {isStop ? <StopEffect id={row.id} campaign={campaign} /> : <p>It moves to “Archived”.</p>}
      {row.scheduled.map(({ release, liveAt }) => (
        <p key={release}>
          Release {release}, scheduled for {wholeMoment(liveAt)}, is canceled as well.
        </p>
      ))}
      <p>Results are kept. History can restore it.</p>
      <NoteField id="take-down-note" label="Why (for the history)" note={note} />
    </Dialog>
  );
};
