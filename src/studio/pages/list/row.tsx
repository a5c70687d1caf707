import { useSignal } from '@preact/signals';
import {
  type CampaignJson,
  cacheTtlSeconds,
  firstVariant,
  getCampaignName,
} from '../../campaign/campaign-json.ts';
import { currentCampaign } from '../../campaign/current-campaign.ts';
import { formatDuration } from '../../campaign/describe-fields.ts';
import { formatNumber } from '../../campaign/format-number.ts';
import type { CampaignVersions } from '../../server/routes/campaigns.ts';
import type { CampaignStats } from '../../server/routes/results.ts';
import { call } from '../call.ts';
import { Button } from '../components/controls.tsx';
import { Dialog, DialogButton, NoteField } from '../components/dialog.tsx';
import { ago, day, formatShare, moment, wholeMoment } from '../components/format.ts';
import { CancelRelease } from '../history/cancel-release.tsx';
import { Link } from '../shell/router.tsx';
import { hasRole, placementName, signedIn } from '../shell/session.ts';
import { createCampaign, createCopy, isToApprove, type ListState, StateMark } from './campaign-list.tsx';

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
          <Link to={`/campaigns/${encodeURIComponent(id)}#expires`}>limit the cache</Link>.
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
      {row.scheduled.length > 0 && (
        <p>
          Release {row.scheduled[0]!.release}, scheduled for {wholeMoment(row.scheduled[0]!.liveAt)}, is
          canceled as well.
        </p>
      )}
      <p>Results are kept. History can restore it.</p>
      <NoteField id="take-down-note" label="Why (for the history)" note={note} />
    </Dialog>
  );
};

interface RowProps {
  row: CampaignVersions;
  state: ListState;
  /** `null` until loaded. */
  number: CampaignStats | null;
  onChange(): Promise<void>;
}

const describeRun = ({ starts_at, ends_at }: CampaignJson): string | null => {
  if (starts_at && ends_at) return `${day(starts_at)} – ${day(ends_at)}`;
  if (starts_at) return `From ${day(starts_at)}`;
  return ends_at ? `Until ${day(ends_at)}` : null;
};

/** Image of the message; an empty box if it has none or the image cannot be loaded. */
const Thumbnail = ({ campaign }: { campaign: CampaignJson }) => {
  const value = firstVariant(campaign)?.properties['image']?.value;
  const [site] = signedIn().workspace.sites;
  const url = typeof value === 'string' && URL.canParse(value, site) ? new URL(value, site).href : null;
  return (
    <span class="list-image">
      {url !== null && (
        <img
          src={url}
          alt=""
          loading="lazy"
          onError={(event) => {
            event.currentTarget.hidden = true;
          }}
        />
      )}
    </span>
  );
};

export const Row = ({ row, state, number, onChange }: RowProps) => {
  const mayTakeDown = hasRole('publish') && signedIn().workspace.campaignsFrom === 'studio';
  const verb = state === 'live' ? 'stop' : state === 'stopped' || state === 'over' ? 'archive' : null;
  const campaign = currentCampaign(row);
  const name = getCampaignName(campaign);
  const isEdited = row.published !== null && row.draft !== null;
  const [next] = row.scheduled;
  return (
    <li class="list-row">
      <Thumbnail campaign={campaign} />
      <span class="list-name">
        <Link to={`/campaigns/${encodeURIComponent(row.id)}`}>
          <bdi>{name}</bdi>
        </Link>
        <span class="row list-facts">
          {campaign.placements.map(placementName).join(', ') || 'No placement yet'}
          {isToApprove(row) && <span class="tag">To approve</span>}
          {isEdited && (
            <span class="tag" title={`Changed by ${row.draft!.editor} ${ago(row.draft!.at)}`}>
              Edited
            </span>
          )}
        </span>
        {row.halted && <span class="row list-facts field-problem">{row.halted}</span>}
      </span>
      <span class="list-state">
        <StateMark state={state} />
        <span class="list-planned muted">
          {next
            ? `${row.published ? 'Next release' : 'Goes live'} ${moment(next.liveAt)}`
            : describeRun(campaign)}
        </span>
      </span>
      <span class="list-number">
        {number && (state === 'live' || number.users > 0) && (
          <span>
            <span>{formatNumber(number.users)}</span>
            <span class="list-unit"> {number.users === 1 ? 'user' : 'users'}</span>
          </span>
        )}
        {number && number.users > 0 && (
          <span class="muted">{formatShare(number.clicked, number.users)} clicked</span>
        )}
      </span>
      <span class="list-actions">
        {hasRole('edit') && (
          <Button
            look="quiet"
            aria-label={`Duplicate ${name}`}
            onClick={() => createCampaign(createCopy(campaign))}
          >
            Duplicate
          </Button>
        )}
        {next && !row.published && <CancelRelease row={row} scheduled={next} name={name} onDone={onChange} />}
        {mayTakeDown && verb && !(verb === 'archive' && row.draft) && (
          <DialogButton
            look={verb === 'stop' ? 'quiet danger' : 'quiet'}
            name={verb === 'stop' ? 'Stop' : 'Archive'}
            aria-label={`${verb === 'stop' ? 'Stop' : 'Archive'} ${name}`}
          >
            {(close) => <StopDialog row={row} verb={verb} onClose={close} onDone={onChange} />}
          </DialogButton>
        )}
      </span>
    </li>
  );
};

/** Fallback for a campaign that cannot be rendered. It can still be opened. */
export const UnreadableRow = ({ row, reason }: { row: CampaignVersions; reason: string }) => (
  <li class="list-row">
    <span class="list-image" />
    <span class="list-name">
      <Link to={`/campaigns/${encodeURIComponent(row.id)}`}>
        <bdi>{row.id}</bdi>
      </Link>
      <span class="row list-facts field-problem">It cannot be read: {reason}</span>
    </span>
  </li>
);
