import { useSignal } from '@preact/signals';
import { nameOf } from '../../campaign/campaign-text.ts';
import type { ScheduleState } from '../../campaign/schedule-state.ts';
import type { CampaignRow } from '../../server/routes/campaigns.ts';
import type { FirstNumber } from '../../server/routes/first-numbers.ts';
import { ago, day, moment } from '../parts/dates.ts';
import { countText, shareText } from '../parts/numbers.ts';
import { StateMark } from '../parts/state-mark.tsx';
import { Link } from '../shell/address.tsx';
import { may, placementName, signedIn } from '../shell/session.ts';
import { createCampaign } from './create-campaign.ts';
import { StopDialog } from './stop-dialog.tsx';
import type { Timeline } from './timeline.ts';

interface RowProps {
  row: CampaignRow;
  state: ScheduleState;
  timeline: Timeline;
  /** `null` while it is not known. */
  number: FirstNumber | null;
  onChange(): Promise<void>;
}

const runsWords = ({
  starts_at,
  ends_at,
}: {
  starts_at?: string | null;
  ends_at?: string | null;
}): string => {
  if (starts_at && ends_at) return `${day(starts_at)} – ${day(ends_at)}`;
  if (starts_at) return `From ${day(starts_at)}`;
  return ends_at ? `Until ${day(ends_at)}` : 'Always';
};

/** One campaign of the list. */
export const Row = ({ row, state, timeline, number, onChange }: RowProps) => {
  const isStopping = useSignal(false);
  const campaign = (row.published ?? row.draft)!.campaign;
  const name = nameOf(campaign);
  const bar = state === 'draft' || state === 'stopped' ? null : timeline.barOf(campaign);
  const isEdited = row.published !== null && row.draft !== null;
  return (
    <li class="list-row">
      <span class="list-name">
        <Link to={`/campaigns/${encodeURIComponent(row.id)}`}>
          <bdi>{name}</bdi>
        </Link>
        <span class="list-facts">
          {campaign.placements.map(placementName).join(', ') || 'No placement yet'}
          {isEdited && (
            <span class="tag" title={`Changed by ${row.draft!.editor} ${ago(row.draft!.at)}`}>
              Edited
            </span>
          )}
        </span>
        {row.halted && <span class="list-facts field-problem">{row.halted}</span>}
      </span>
      <span class="list-state">
        <StateMark state={state} />
        {row.planned && <span class="list-planned muted">Next {moment(row.planned.liveAt)}</span>}
      </span>
      <span class="list-time">
        <span class="list-today" style={{ insetInlineStart: `${timeline.today}%` }} />
        {bar && (
          <span
            class="list-bar"
            data-state={state}
            data-open={bar.isOpen}
            style={{ insetInlineStart: `${bar.start}%`, inlineSize: `${bar.length}%` }}
          />
        )}
        <span class="list-runs">{runsWords(campaign)}</span>
      </span>
      <span class="list-number">
        {number && (state === 'live' || number.people > 0) && (
          <span>
            <span>{countText(number.people)}</span>
            <span class="list-unit"> {number.people === 1 ? 'person' : 'people'}</span>
          </span>
        )}
        {number && number.people > 0 && (
          <span class="muted">{shareText(number.clicked, number.people)} clicked</span>
        )}
      </span>
      <span class="list-actions">
        {may('edit') && (
          <button
            type="button"
            class="button quiet"
            aria-label={`Duplicate ${name}`}
            onClick={() => createCampaign(campaign)}
          >
            Duplicate
          </button>
        )}
        {may('publish') && state === 'live' && signedIn().workspace.campaignsFrom === 'studio' && (
          <button
            type="button"
            class="button quiet danger"
            aria-label={`Stop ${name}`}
            onClick={() => {
              isStopping.value = true;
            }}
          >
            Stop
          </button>
        )}
        {isStopping.value && (
          <StopDialog
            row={row}
            onClose={() => {
              isStopping.value = false;
            }}
            onStopped={onChange}
          />
        )}
      </span>
    </li>
  );
};

/** In the place of a campaign that cannot be drawn: the others stay, and this one can be opened. */
export const UnreadableRow = ({ row, reason }: { row: CampaignRow; reason: string }) => (
  <li class="list-row">
    <span class="list-name">
      <Link to={`/campaigns/${encodeURIComponent(row.id)}`}>
        <bdi>{row.id}</bdi>
      </Link>
      <span class="list-facts field-problem">It cannot be read: {reason}</span>
    </span>
  </li>
);
