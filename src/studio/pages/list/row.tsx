import { useSignal } from '@preact/signals';
import { type CampaignText, nameOf } from '../../campaign/campaign-text.ts';
import type { ScheduleState } from '../../campaign/schedule-state.ts';
import type { CampaignRow } from '../../server/routes/campaigns.ts';
import type { FirstNumber } from '../../server/routes/results.ts';
import { call } from '../call.ts';
import { Dialog, NoteField } from '../parts/dialog.tsx';
import { ago, countText, day, moment, shareText } from '../parts/format.ts';
import { announce } from '../parts/problem.tsx';
import { Link } from '../shell/address.tsx';
import { may, placementName, signedIn } from '../shell/session.ts';
import { createCampaign, StateMark } from './campaign-list.tsx';

const DAY_MS = 86_400_000;
const PAST_DAYS = 14;
const FUTURE_DAYS = 42;
const TICK_DAYS = 14;

/** The weeks around today, as shares of their length in per cent. */
export interface Timeline {
  today: number;
  ticks: { at: number; name: string }[];
  /** Where a campaign's bar begins and how long it is; `null` where it is not in these weeks. */
  barOf(campaign: CampaignText): { start: number; length: number; isOpen: boolean } | null;
}

export const timelineOf = (nowMs: number): Timeline => {
  const from = nowMs - PAST_DAYS * DAY_MS;
  const length = (PAST_DAYS + FUTURE_DAYS) * DAY_MS;
  const share = (ms: number) => (100 * (ms - from)) / length;
  return {
    today: share(nowMs),
    ticks: Array.from({ length: (PAST_DAYS + FUTURE_DAYS) / TICK_DAYS }, (_, index) => {
      const ms = from + index * TICK_DAYS * DAY_MS;
      return { at: share(ms), name: index === 1 ? 'Today' : day(ms) };
    }),
    barOf({ starts_at, ends_at }) {
      const start = Math.max(0, starts_at ? share(Date.parse(starts_at)) : 0);
      const end = Math.min(100, ends_at ? share(Date.parse(ends_at)) : 100);
      return end <= start ? null : { start, length: end - start, isOpen: !ends_at };
    },
  };
};

interface StopDialogProps {
  row: CampaignRow;
  onClose(): void;
  onStopped(): Promise<void>;
}

/** Takes a campaign off the pages, after asking. */
export const StopDialog = ({ row, onClose, onStopped }: StopDialogProps) => {
  const note = useSignal('');
  const name = nameOf(row.published!.campaign);
  const stop = async () => {
    const path = `/api/campaigns/${encodeURIComponent(row.id)}/stop`;
    await call('POST', path, { body: { note: note.value, based_on: row.newest } });
    announce(`${name} is stopped. A page that is open keeps it until it asks again.`);
    onClose();
    await onStopped();
  };
  return (
    <Dialog
      title={`Stop “${name}”?`}
      onClose={onClose}
      closeName="Leave it live"
      action={{ name: 'Stop it now', act: stop }}
    >
      <p>
        Pages that ask from now on get something else. One that is open may show it until its next session.
        Its results stay, and History brings it back.
      </p>
      <NoteField id="stop-note" label="Why (for the history)" note={note} />
    </Dialog>
  );
};

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
