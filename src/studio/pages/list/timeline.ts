import type { CampaignText } from '../../campaign/campaign-text.ts';
import { day } from '../parts/dates.ts';

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
