import { signedIn } from '../shell/session.ts';

const formatter = (options: Intl.DateTimeFormatOptions, timeZone: string) =>
  new Intl.DateTimeFormat('en-GB', { ...options, timeZone });

/** `Mon 2 Mar, 09:00`, in the workspace's time zone. */
export const moment = (iso: string): string =>
  formatter(
    { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
    signedIn().workspace.timeZone,
  ).format(Date.parse(iso));

/** The same with year and zone, for where there is room and a mistake would cost. */
export const wholeMoment = (iso: string): string =>
  formatter(
    {
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      timeZoneName: 'short',
    },
    signedIn().workspace.timeZone,
  ).format(Date.parse(iso));

export const day = (iso: string | number): string =>
  formatter({ day: 'numeric', month: 'short' }, signedIn().workspace.timeZone).format(new Date(iso));

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];
const relative = new Intl.RelativeTimeFormat('en-GB', { numeric: 'auto' });

/** `2 hours ago`, `just now`. */
export const ago = (iso: string, now = Date.now()): string => {
  const past = Date.parse(iso) - now;
  for (const [unit, ms] of UNITS)
    if (Math.abs(past) >= ms) return relative.format(Math.round(past / ms), unit);
  return 'just now';
};
