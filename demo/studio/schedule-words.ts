import type { CampaignText } from './campaign-text.ts';

/** In the zone of whoever looks, and with its name: the file may give another offset, in which it is another day. */
const instant = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
});

const HOUR_SECONDS = 3_600;

/** Whether a campaign is before, in or after its time; `off` where its status keeps it from running at all. */
export const scheduleState = (
  { status, starts_at, ends_at }: CampaignText,
  now: number,
): 'draft' | 'stopped' | 'waiting' | 'live' | 'over' => {
  if (status !== 'active') return status;
  if (starts_at && Date.parse(starts_at) > now) return 'waiting';
  return ends_at && Date.parse(ends_at) <= now ? 'over' : 'live';
};

export const STATE_WORDS = {
  draft: 'Draft',
  stopped: 'Stopped',
  waiting: 'Planned',
  live: 'Live',
  over: 'Over',
} as const;

/** When a campaign runs, as a sentence. */
export const scheduleWords = ({ starts_at, ends_at }: CampaignText): string => {
  const from = starts_at ? instant.format(Date.parse(starts_at)) : null;
  const to = ends_at ? instant.format(Date.parse(ends_at)) : null;
  if (from && to) return `From ${from} to ${to}.`;
  if (from) return `From ${from}, without an end.`;
  return to ? `Until ${to}.` : 'At any time, without an end.';
};

const hours = (count: number) =>
  count % 24 === 0 && count > 0
    ? count === 24
      ? 'a day'
      : `${count / 24} days`
    : count === 1
      ? 'an hour'
      : `${count} hours`;

/** What else decides how often somebody sees it. */
export const ruleWords = (campaign: CampaignText): string[] => {
  const { control_percentage, reeligible_after_hours, priority = 'medium', variants } = campaign;
  const expiries = new Set(variants.map((variant) => variant.expires_after_seconds ?? 0));
  const [expiry = 0] = expiries;
  return [
    priority === 'medium' ? 'Priority is medium.' : `Priority is ${priority}.`,
    control_percentage ? `${control_percentage} % see nothing, to compare with.` : '',
    typeof reeligible_after_hours === 'number'
      ? `Who dismisses it may see it again after ${hours(reeligible_after_hours)}.`
      : 'Who dismisses it never sees it again.',
    expiries.size === 1 && expiry >= HOUR_SECONDS
      ? `A page keeps it for ${hours(expiry / HOUR_SECONDS)}.`
      : '',
  ].filter((text) => text !== '');
};
