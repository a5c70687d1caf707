import {
  fromIso,
  offsetMinutes,
  type ParsedDateTime,
  toParsedDateTime,
  toUnixMs,
} from '../../protocol/index.ts';

/** Last year that can be stored. The first is 0. */
const MAX_YEAR = 3_000;

const DATE_ONLY = /^(\d{4})-(\d\d)-(\d\d)$/;
const SLASHES = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/;
/** Matches the format `ddd MM dd HH:mm:ss.TZD YYYY`. */
const WEEKDAY =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (\d\d) (\d\d) (\d\d):(\d\d):(\d\d)\.?\s?([Zz]|[+-]\d\d(?::?\d\d)?) (\d{4})$/;

/**
 * Parses a date in one of the formats that attributes accept. Returns Unix milliseconds; `null` for any other text, and for years
 * outside 0–3000. The default time zone is UTC, and the default time is midnight.
 */
export const parseDate = (text: string): number | null => nearDate(text)?.instant ?? null;

/** Returns the day as written, without applying the offset, so that a birthday does not change to the previous day. */
export const parseDay = (text: string): string | null => {
  const date = nearDate(text);
  return date && formatDay(date.wall);
};

const nearDate = (text: string): ParsedDateTime | null => {
  if (text.length > 40) return null;
  const date = anyDate(text);
  if (date === null) return null;
  const year = new Date(date.instant).getUTCFullYear();
  return year >= 0 && year <= MAX_YEAR ? date : null;
};

const anyDate = (text: string): ParsedDateTime | null => {
  const day = DATE_ONLY.exec(text);
  if (day) return toParsedDateTime(toUnixMs(Number(day[1]), Number(day[2]), Number(day[3]), 0, 0, 0, 0), 0);
  const slashes = SLASHES.exec(text);
  if (slashes) {
    return toParsedDateTime(
      toUnixMs(Number(slashes[3]), Number(slashes[1]), Number(slashes[2]), 0, 0, 0, 0),
      0,
    );
  }
  const weekday = WEEKDAY.exec(text);
  if (weekday) {
    const [, month, dayOfMonth, hour, minute, second, zone, year] = weekday;
    const wall = toUnixMs(
      Number(year),
      Number(month),
      Number(dayOfMonth),
      Number(hour),
      Number(minute),
      Number(second),
      0,
    );
    return toParsedDateTime(wall, offsetMinutes(zone!));
  }
  return fromIso(text, false);
};

/** Matches prefixes of other dates that `Date.parse` accepts, such as `3/1/2026`, `2026-3-1`, `1 March` and `Sun, March 1`. */
const OTHER_FORM =
  /^(?:\d{4}[-/]\d{1,2}[-/]\d{1,2}\b|\d{1,2}[-/]\d{1,2}[-/]\d{2,4}\b|(?:(?:sun|mon|tue|wed|thu|fri|sat)[a-z]*,?\s+)?(?:\d{1,2}[-\s]+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[-,\s]+(?=.{0,80}\d{4})\d)/i;
/** Maximum length of other dates. Exceeds the longest, such as `Sun Mar 01 2026 10:00:00 GMT+0900 (Japan Standard Time)`. */
const MAX_OTHER_CHARACTERS = 80;
const ZONE = /(?<![a-z])(?:z|utc?|gmt|[ecmp][sd]t)\b|:\d\d(?:\.\d+)?\s*(?:[ap]m\s*)?[+-]\d/i;

/**
 * Parses a date of any year, in an accepted format or in another format that `Date.parse` supports. Returns Unix milliseconds;
 * `NaN` for any other text. `Date.parse` alone would read a date without a zone in the machine's zone, and `1,5` as a day in
 * 2001.
 */
export const readDate = (text: string): number => {
  const date = anyDate(text);
  if (date !== null) return date.instant;
  if (text.length > MAX_OTHER_CHARACTERS || !OTHER_FORM.test(text)) return Number.NaN;
  const day = text.slice(0, 10);
  // `Date.parse` would read February 30 as a day of March.
  if (DATE_ONLY.test(day) && anyDate(day) === null) return Number.NaN;
  return Date.parse(ZONE.test(text) ? text : `${text} UTC`);
};

/** Whether a text is a date in an accepted format with a year outside 0–3000. Such a date is stored as text, not as a time. */
export const isFarDate = (text: string): boolean =>
  text.length <= 40 &&
  (anyDate(text) !== null ? parseDate(text) === null : /^[+-]\d{6}-\d\d-\d\d/.test(text));

/** Returns the UTC day of a time in Unix milliseconds, for example `2026-03-01`. */
export const formatDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
