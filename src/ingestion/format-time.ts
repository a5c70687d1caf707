import { DAY_MS } from '../protocol/index.ts';
import { UnreadableValueError } from './json-value.ts';

const NS_PER_SECOND = 1_000_000_000n;
const NS_PER_DAY = 86_400n * NS_PER_SECOND;
/** 0001-01-01 and 10000-01-01 in days since 1970, because ISO 8601 years have four digits. */
const FIRST_DAY = -719_162;
const END_DAY = 2_932_897;

export const OUT_OF_RANGE = 'is outside the years 1 to 9999';

/** Formats a fraction of a second with six digits, or nine if the time is finer than a microsecond. */
const formatFraction = (ns: bigint): string => {
  const digits = String(ns).padStart(9, '0');
  return digits.endsWith('000') ? digits.slice(0, 6) : digits;
};

/** Formats days since 1970 as `2026-03-01`. Throws `UnreadableValueError` outside the years 1 to 9999. */
export const formatDate = (days: number): string => {
  if (days < FIRST_DAY || days >= END_DAY) throw new UnreadableValueError(OUT_OF_RANGE, `${days} days`);
  return new Date(days * DAY_MS).toISOString().slice(0, 10);
};

/** Formats nanoseconds since midnight as `09:30:00`, with a fraction if not zero. */
export const formatTimeOfDay = (ns: bigint): string => {
  const seconds = Number(ns / NS_PER_SECOND);
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const fraction = ns % NS_PER_SECOND;
  const text = parts.map((part) => String(part).padStart(2, '0')).join(':');
  return fraction === 0n ? text : `${text}.${formatFraction(fraction)}`;
};

/** Formats Unix nanoseconds as `2026-03-01T10:00:00.123456Z`. Throws `UnreadableValueError` outside the years 1 to 9999. */
export const formatInstant = (ns: bigint): string => {
  const ofDay = ((ns % NS_PER_DAY) + NS_PER_DAY) % NS_PER_DAY;
  const date = formatDate(Number((ns - ofDay) / NS_PER_DAY));
  const time = formatTimeOfDay(ofDay).slice(0, 8);
  return `${date}T${time}.${formatFraction(ofDay % NS_PER_SECOND)}Z`;
};
