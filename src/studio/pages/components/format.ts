import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../protocol/index.ts';
import { formatPercent } from '../../campaign/format-number.ts';
import { signedIn } from '../shell/session.ts';

/** Formats a date in the workspace's time zone. Returns invalid dates unchanged, because drafts are not validated. */
const format = (date: string | number, options: Intl.DateTimeFormatOptions): string => {
  const ms = typeof date === 'number' ? date : Date.parse(date);
  if (Number.isNaN(ms)) return String(date);
  return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: signedIn().workspace.timeZone }).format(ms);
};

/** Formats a time in the workspace's time zone, such as `Mon 2 Mar, 09:00`. Includes the year unless it is the current one. */
export const moment = (iso: string): string =>
  format(iso, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    ...(!isThisYear(iso) && { year: 'numeric' }),
    hour: '2-digit',
    minute: '2-digit',
  });

/** Formats a time with year and time zone, for places with enough space where a mistake would be costly. */
export const wholeMoment = (iso: string): string =>
  format(iso, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  });

const isThisYear = (date: string | number): boolean =>
  format(date, { year: 'numeric' }) === format(Date.now(), { year: 'numeric' });

/** Formats a date, such as `2 Mar`. Includes the year unless it is the current one. */
export const day = (date: string | number): string =>
  format(date, { day: 'numeric', month: 'short', ...(!isThisYear(date) && { year: 'numeric' }) });

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
];
const relative = new Intl.RelativeTimeFormat('en-GB', { numeric: 'auto' });

/** Formats a past time relative to now, such as `2 hours ago` or `just now`. */
export const ago = (iso: string, now = Date.now()): string => {
  const past = Date.parse(iso) - now;
  for (const [unit, ms] of UNITS)
    if (Math.abs(past) >= ms) return relative.format(Math.round(past / ms), unit);
  return 'just now';
};

/**
 * Returns a rate from 0 to 1; `null` if the total is 0 or less than the part. On a single day, clicks can exceed impressions, for
 * example after midnight.
 */
export const getShare = (part: number, total: number): number | null =>
  total === 0 || part > total ? null : part / total;
/** Formats a rate with one decimal, such as `7.1%`, for comparison in columns. Returns `–` if there is no rate. */
export const formatShare = (part: number, of: number): string => {
  const share = getShare(part, of);
  return share === null ? '–' : formatPercent(share);
};
