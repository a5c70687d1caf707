import { useSignal } from '@preact/signals';
import { type CampaignJson, cacheTtlSeconds, getCampaignName } from '../../campaign/campaign-json.ts';
import { currentCampaign } from '../../campaign/current-campaign.ts';
import { formatDuration } from '../../campaign/describe-fields.ts';
import type { CampaignRow } from '../../server/routes/campaigns.ts';
import type { CampaignStats } from '../../server/routes/results.ts';
import { call } from '../call.ts';
import { Button } from '../components/controls.tsx';
import { Dialog, DialogButton, NoteField } from '../components/dialog.tsx';
import { ago, countText, day, moment, shareText, wholeMoment } from '../components/format.ts';
import { announce } from '../components/notices.tsx';
import { CancelRelease } from '../history/cancel-release.tsx';
import { Link } from '../shell/router.tsx';
import { hasRole, placementName, signedIn } from '../shell/session.ts';
import { createCampaign, createCopy, isToApprove, type ListState, StateMark } from './campaign-list.tsx';

const DAY_MS = 86_400_000;
const PAST_DAYS = 14;
const FUTURE_DAYS = 42;
const TICK_DAYS = 14;

/** Weeks around today, as positions in percent. */
export interface Timeline {
  today: number;
  ticks: { at: number; name: string }[];
  /** Returns the start and length of a campaign's bar; `null` if the campaign is outside of these weeks. */
  barOf(campaign: CampaignJson): { start: number; length: number; isOpen: boolean } | null;
}

export const createTimeline = (nowMs: number): Timeline => {
  const startMs = nowMs - PAST_DAYS * DAY_MS;
  const length = (PAST_DAYS + FUTURE_DAYS) * DAY_MS;
  const share = (ms: number) => (100 * (ms - startMs)) / length;
  return {
    today: share(nowMs),
    ticks: Array.from({ length: (PAST_DAYS + FUTURE_DAYS) / TICK_DAYS }, (_, index) => {
      const ms = startMs + index * TICK_DAYS * DAY_MS;
      return { at: share(ms), name: index === 1 ? 'Today' : day(ms) };
    }),
    barOf({ starts_at, ends_at }) {
      const start = Math.max(0, starts_at ? share(Date.parse(starts_at)) : 0);
      const end = Math.min(100, ends_at ? share(Date.parse(ends_at)) : 100);
      return end <= start ? null : { start, length: end - start, isOpen: !ends_at };
    },
  };
};

interface TakeDownDialogProps {
  row: CampaignRow;
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
    announce(isStop ? `${name} is stopped.` : `${name} is in the archive.`);
    onClose();
    await onDone();
  };
  return (
    <Dialog
      title={isStop ? `Stop “${name}”?` : `Archive “${name}”?`}
      onClose={onClose}
      closeName="Cancel"
      action={{ name: isStop ? 'Stop campaign' : 'Archive campaign', act }}
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
  row: CampaignRow;
  state: ListState;
  timeline: Timeline;
  /** `null` until loaded. */
  number: CampaignStats | null;
  onChange(): Promise<void>;
}

const describeRun = ({ starts_at, ends_at }: CampaignJson): string | null => {
  if (starts_at && ends_at) return `${day(starts_at)} – ${day(ends_at)}`;
  if (starts_at) return `From ${day(starts_at)}`;
  return ends_at ? `Until ${day(ends_at)}` : null;
};

export const Row = ({ row, state, timeline, number, onChange }: RowProps) => {
  const mayTakeDown = hasRole('publish') && signedIn().workspace.campaignsFrom === 'studio';
  const verb = state === 'live' ? 'stop' : state === 'stopped' || state === 'over' ? 'archive' : null;
  const campaign = currentCampaign(row);
  const name = getCampaignName(campaign);
  const bar = ['draft', 'stopped', 'archived'].includes(state) ? null : timeline.barOf(campaign);
  const isEdited = row.published !== null && row.draft !== null;
  const [next] = row.scheduled;
  return (
    <li class="list-row">
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
        {next && (
          <span class="list-planned muted">
            {row.published ? 'Next release' : 'Goes live'} {moment(next.liveAt)}
          </span>
        )}
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
        <span class="list-runs">{describeRun(campaign) ?? (bar && 'Always')}</span>
      </span>
      <span class="list-number">
        {number && (state === 'live' || number.people > 0) && (
          <span>
            <span>{countText(number.people)}</span>
            <span class="list-unit"> {number.people === 1 ? 'user' : 'users'}</span>
          </span>
        )}
        {number && number.people > 0 && (
          <span class="muted">{shareText(number.clicked, number.people)} clicked</span>
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
export const UnreadableRow = ({ row, reason }: { row: CampaignRow; reason: string }) => (
  <li class="list-row">
    <span class="list-name">
      <Link to={`/campaigns/${encodeURIComponent(row.id)}`}>
        <bdi>{row.id}</bdi>
      </Link>
      <span class="row list-facts field-problem">It cannot be read: {reason}</span>
    </span>
  </li>
);
