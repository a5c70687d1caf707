import { MINUTE_MS } from './durations.ts';

/** 0000-01-01T00:00:00Z in Unix milliseconds. */
const YEAR_ZERO = -62_167_219_200_000;
const MONTHS_WITH_31 = new Set([1, 3, 5, 7, 8, 10, 12]);

const daysIn = (year: number, month: number): number => {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return MONTHS_WITH_31.has(month) ? 31 : 30;
};

/** Converts a UTC date and time to Unix milliseconds. Returns `null` if the date or time does not exist. */
export const toUnixMs = (
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
  ms: number,
): number | null => {
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return null;
  // ISO 8601 allows 24:00 and leap seconds, which equal the start of the next minute.
  if (hour > 24 || (hour === 24 && (minute > 0 || second > 0 || ms > 0)) || minute > 59 || second > 60)
    return null;
  if (year >= 100) return Date.UTC(year, month - 1, day, hour, minute, second, ms);
  // `Date.UTC` maps years below 100 to 19xx.
  return new Date(0).setUTCFullYear(year, month - 1, day) + ((hour * 60 + minute) * 60 + second) * 1000 + ms;
};

/** Parses a UTC offset (`Z`, `+02:00`, `+0200`, `+02`) to minutes. Returns `null` if invalid. */
export const offsetMinutes = (zone: string): number | null => {
  if (zone === 'Z' || zone === 'z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = zone.length > 3 ? Number(zone.slice(-2)) : 0;
  if (hours > 23 || minutes > 59) return null;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
};

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,:](\d{1,9}))?)? ?([Zz]|[+-]\d\d(?::?\d\d)?)?$/;

/** Parsed date and time: the instant and the local time as written, in Unix milliseconds. */
export interface ParsedDateTime {
  instant: number;
  wall: number;
}

export const toParsedDateTime = (wall: number | null, offset: number | null): ParsedDateTime | null =>
  wall === null || offset === null ? null : { instant: wall - offset * MINUTE_MS, wall };

/** Parses an ISO 8601 date and time. If the zone is optional and missing, the time is UTC. Returns `null` if invalid. */
export const fromIso = (text: string, needsZone: boolean): ParsedDateTime | null => {
  const match = ISO.exec(text);
  if (!match || (needsZone && match[8] === undefined)) return null;
  const [, year, month, day, hour, minute, second = '0', fraction = '', zone = 'Z'] = match;
  const ms = fraction === '' ? 0 : Number(fraction.slice(0, 3).padEnd(3, '0'));
  const wall = toUnixMs(
    Number(year),
    Number(month),
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
    ms,
  );
  return toParsedDateTime(wall, offsetMinutes(zone));
};

const digits = (text: string, from: number, to: number): number => {
  let value = 0;
  for (let i = from; i < to; i += 1) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
};

/**
 * Parses the time of an event or purchase to Unix milliseconds. Accepts ISO 8601 with `Z` or an offset, optional seconds and
 * fraction, a space instead of `T` or before the offset, and a colon before the milliseconds. Returns `null` if invalid, or
 * before the year 0 in UTC.
 */
export const parseInstant = (text: string): number | null => {
  // Fast path, because nearly every event has the form `2026-03-01T09:15:00.000Z`, and reading its digits costs a tenth of the
  // pattern.
  if (text.length === 24 && text.charCodeAt(23) === 90 && text.charCodeAt(10) === 84) {
    if (
      text.charCodeAt(4) === 45 &&
      text.charCodeAt(7) === 45 &&
      text.charCodeAt(13) === 58 &&
      text.charCodeAt(16) === 58 &&
      text.charCodeAt(19) === 46
    ) {
      const moment = toUnixMs(
        digits(text, 0, 4),
        digits(text, 5, 7),
        digits(text, 8, 10),
        digits(text, 11, 13),
        digits(text, 14, 16),
        digits(text, 17, 19),
        digits(text, 20, 23),
      );
      if (moment !== null && !Number.isNaN(moment)) return moment;
    }
  }
  const instant = fromIso(text, true)?.instant ?? null;
  // An offset can shift the instant before the year 0, which stores cannot hold.
  return instant !== null && instant >= YEAR_ZERO ? instant : null;
};
