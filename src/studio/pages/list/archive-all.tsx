import { useSignal } from '@preact/signals';
import { getCampaignName } from '../../campaign/campaign-json.ts';
import { currentCampaign } from '../../campaign/current-campaign.ts';
import { formatCount } from '../../campaign/format-number.ts';
import type { CampaignVersions } from '../../server/routes/campaigns.ts';
import { ApiError, call } from '../call.ts';
import { Dialog, DialogButton, NoteField } from '../components/dialog.tsx';

interface ArchiveAllProps {
  rows: readonly CampaignVersions[];
  onDone(): Promise<void>;
}

const getName = (row: CampaignVersions) => getCampaignName(currentCampaign(row));

const ArchiveAllDialog = ({ rows, onClose, onDone }: ArchiveAllProps & { onClose(): void }) => {
  const note = useSignal('');
  const act = async () => {
    const kept: string[] = [];
    for (const row of rows) {
      const path = `/api/campaigns/${encodeURIComponent(row.id)}/archive`;
      try {
        await call('POST', path, { body: { note: note.value, based_on: row.newest } });
      } catch (error) {
        // Another operator published the campaign or changed its draft.
        if (!(error instanceof ApiError) || error.status !== 409) throw error;
        kept.push(getName(row));
      }
    }
    const archived = `${formatCount(rows.length - kept.length, 'campaign')} archived.`;
    return kept.length === 0 ? archived : `${archived} Changed in the meantime: ${kept.join(', ')}.`;
  };
  return (
    <Dialog
      title={`Archive ${formatCount(rows.length, 'campaign')}?`}
      onClose={onClose}
      action={{ name: 'Archive campaigns', act }}
      onDone={onDone}
    >
      <ul class="stack tight">
        {rows.map((row) => (
          <li key={row.id}>
            <bdi>{getName(row)}</bdi>
          </li>
        ))}
      </ul>
      <p>They move to “Archived”. Results are kept. History can restore them.</p>
      <NoteField id="archive-note" label="Why (for the history)" note={note} />
    </Dialog>
  );
};

/** Action that archives all listed campaigns. */
export const ArchiveAll = (props: ArchiveAllProps) => (
  <DialogButton name={`Archive all ${props.rows.length}…`}>
    {(close) => <ArchiveAllDialog {...props} onClose={close} />}
  </DialogButton>
);
