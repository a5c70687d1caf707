import { DAY_MS, MINUTE_MS } from '../../protocol/index.ts';

const FIELDS = ['year', 'month', 'day', 'hour', 'minute'] as const;

/** Plausible years. While the year is typed, a date field reports values such as 0002, which `Date.UTC` maps to 1902. */
const MIN_YEAR = 2000;
const MAX_YEAR = 2999;

/** Returns the wall-clock time of a time zone, as if it were UTC, in milliseconds. */
const wallMs = (ms: number, timeZone: string): number => {
  const parts = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  }).formatToParts(ms);
  const [year, month, day, hour, minute] = FIELDS.map((type) =>
    Number(parts.find((part) => part.type === type)?.value),
  );
  return Date.UTC(year!, month! - 1, day, hour, minute);
};

/** Formats a time for a `datetime-local` input, such as `2026-03-02T09:00`. Returns `''` if the date is invalid. */
export const toZoned = (iso: string, timeZone: string): string => {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? '' : new Date(wallMs(ms, timeZone)).toISOString().slice(0, 16);
};

const LOCAL = /^(\d{4})-\d\d-\d\dT\d\d:\d\d$/;

/**
 * Returns the ISO 8601 time of a wall-clock time with the zone's offset, such as `2026-03-02T09:00:00+01:00`. For a time that a
 * clock change repeats, returns the first. Returns `null` if the time is invalid, is skipped by a clock change, or has a year
 * outside of 2000 to 2999.
 */
export const fromZoned = (text: string, timeZone: string): string | null => {
  // Checks the format, because V8 parses many other formats as dates.
  const year = Number(LOCAL.exec(text)?.[1]);
  if (!(year >= MIN_YEAR && year <= MAX_YEAR)) return null;
  const wanted = Date.parse(`${text}:00Z`);
  if (Number.isNaN(wanted)) return null;
  // Uses the offsets of a day before and a day after, because the clocks can change in between.
  const offsets = [wanted - DAY_MS, wanted + DAY_MS].map((ms) => wallMs(ms, timeZone) - ms);
  const fits = offsets.map((offset) => wanted - offset).filter((ms) => wallMs(ms, timeZone) === wanted);
  if (fits.length === 0) return null;
  const ms = Math.min(...fits);
  const minutes = Math.round((wallMs(ms, timeZone) - ms) / MINUTE_MS);
  const pad = (number: number) => String(Math.abs(number)).padStart(2, '0');
  const sign = minutes < 0 ? '-' : '+';
  const offset = `${sign}${pad(Math.trunc(minutes / 60))}:${pad(minutes % 60)}`;
  return `${new Date(ms + minutes * MINUTE_MS).toISOString().slice(0, 19)}${offset}`;
};
