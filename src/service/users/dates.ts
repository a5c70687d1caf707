import { fromIso, momentOf, offsetMinutes, type Written, written } from '../../protocol/index.ts';

/** Years above, and years before Christ, cannot be stored as times. */
const MAX_YEAR = 3_000;

const DATE_ONLY = /^(\d{4})-(\d\d)-(\d\d)$/;
const SLASHES = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/;
/** `ddd MM dd HH:mm:ss.TZD YYYY` */
const WEEKDAY =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (\d\d) (\d\d) (\d\d):(\d\d):(\d\d)\.?\s?([Zz]|[+-]\d\d(?::?\d\d)?) (\d{4})$/;

/**
 * A date in any of the forms that attributes accept, in Unix milliseconds; without a zone it is UTC, without a time
 * it is midnight. `null` for any other text, and for years outside 0–3000.
 */
export const parseDate = (text: string): number | null => nearDate(text)?.instant ?? null;

/** The day of such a date as it is written, before its offset: midnight of a birthday is the day before elsewhere. */
export const parseDay = (text: string): string | null => {
  const date = nearDate(text);
  return date && dayOf(date.wall);
};

const nearDate = (text: string): Written | null => {
  if (text.length > 40) return null;
  const date = anyDate(text);
  if (date === null) return null;
  const year = new Date(date.instant).getUTCFullYear();
  return year >= 0 && year <= MAX_YEAR ? date : null;
};

const anyDate = (text: string): Written | null => {
  const day = DATE_ONLY.exec(text);
  if (day) return written(momentOf(Number(day[1]), Number(day[2]), Number(day[3]), 0, 0, 0, 0), 0);
  const slashes = SLASHES.exec(text);
  if (slashes) {
    return written(momentOf(Number(slashes[3]), Number(slashes[1]), Number(slashes[2]), 0, 0, 0, 0), 0);
  }
  const weekday = WEEKDAY.exec(text);
  if (weekday) {
    const [, month, dayOfMonth, hour, minute, second, zone, year] = weekday;
    const wall = momentOf(
      Number(year),
      Number(month),
      Number(dayOfMonth),
      Number(hour),
      Number(minute),
      Number(second),
      0,
    );
    return written(wall, offsetMinutes(zone!));
  }
  return fromIso(text, false);
};

/** How the dates begin that the platform reads beside the accepted ones: `3/1/2026`, `2026-3-1`, `1 March`, `Sun, March 1`. */
const OTHER_FORM =
  /^(?:\d{4}[-/]\d{1,2}[-/]\d{1,2}\b|\d{1,2}[-/]\d{1,2}[-/]\d{2,4}\b|(?:(?:sun|mon|tue|wed|thu|fri|sat)[a-z]*,?\s+)?(?:\d{1,2}[-\s]+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[-,\s]+(?=.{0,80}\d{4})\d)/i;
/** Longer than any of them: `Sun Mar 01 2026 10:00:00 GMT+0900 (Japan Standard Time)`. */
const MAX_OTHER_CHARACTERS = 80;
const ZONE = /(?<![a-z])(?:z|utc?|gmt|[ecmp][sd]t)\b|:\d\d(?:\.\d+)?\s*(?:[ap]m\s*)?[+-]\d/i;

/**
 * The instant of a date in one of the accepted forms, of any year, or in another that the platform reads; else `NaN`. The
 * platform would take a text without a zone for the machine's, and `1,5` for a day in 2001.
 */
export const readDate = (text: string): number => {
  const date = anyDate(text);
  if (date !== null) return date.instant;
  if (text.length > MAX_OTHER_CHARACTERS || !OTHER_FORM.test(text)) return Number.NaN;
  const day = text.slice(0, 10);
  // It would read the 30th of February as a day of March.
  if (DATE_ONLY.test(day) && anyDate(day) === null) return Number.NaN;
  return Date.parse(ZONE.test(text) ? text : `${text} UTC`);
};

/** True for a date of the accepted forms whose year is outside 0–3000: a text to store, not a time. */
export const isFarDate = (text: string): boolean =>
  text.length <= 40 &&
  (anyDate(text) !== null ? parseDate(text) === null : /^[+-]\d{6}-\d\d-\d\d/.test(text));

/** The UTC day of an instant, for example `2026-03-01`. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
