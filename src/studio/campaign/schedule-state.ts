import type { CampaignText } from './campaign-text.ts';

export type ScheduleState = 'draft' | 'stopped' | 'planned' | 'live' | 'over';

/** Whether a campaign is before, in or after its time; its status where that keeps it from running at all. */
export const scheduleState = (
  { status, starts_at, ends_at }: Pick<CampaignText, 'status' | 'starts_at' | 'ends_at'>,
  nowMs: number,
): ScheduleState => {
  if (status !== 'active') return status;
  if (starts_at && Date.parse(starts_at) > nowMs) return 'planned';
  return ends_at && Date.parse(ends_at) <= nowMs ? 'over' : 'live';
};
