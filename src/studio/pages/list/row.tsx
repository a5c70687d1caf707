import { type CampaignJson, firstVariant, getCampaignName } from '../../campaign/campaign-json.ts';
import { currentCampaign } from '../../campaign/current-campaign.ts';
import { formatNumber } from '../../campaign/format-number.ts';
import type { CampaignVersions } from '../../server/routes/campaigns.ts';
import type { CampaignStats } from '../../server/routes/results.ts';
import { Button } from '../components/controls.tsx';
import { DialogButton } from '../components/dialog.tsx';
import { ago, day, formatShare, moment } from '../components/format.ts';
import { Late } from '../components/loading.tsx';
import { CancelRelease } from '../history/cancel-release.tsx';
import { CampaignLink } from '../shell/router.tsx';
import { hasRole, placementName, signedIn } from '../shell/session.ts';
import { createCampaign, createCopy, isToApprove, type ListState, StateMark } from './campaign-list.tsx';

const loadStopDialog = async () => (await import('./stop-dialog.tsx')).StopDialog;

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
        <CampaignLink id={row.id} name={name} />
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
            {(close) => (
              <Late load={loadStopDialog}>
                {(StopDialog) => <StopDialog row={row} verb={verb} onClose={close} onDone={onChange} />}
              </Late>
            )}
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
      <CampaignLink id={row.id} name={row.id} />
      <span class="row list-facts field-problem">It cannot be read: {reason}</span>
    </span>
  </li>
);
