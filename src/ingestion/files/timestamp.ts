import { fromIso } from '../../protocol/index.ts';
import type { JsonValue } from '../json-value.ts';

const NS_DIGITS = 9;
/**
 * Upper bounds of seconds, milliseconds and microseconds, with the number of digits to nanoseconds. Each bound is after the year
 * 5000.
 */
const UNITS: readonly [max: number, digits: number][] = [
  [1e11, NS_DIGITS],
  [1e14, 6],
  [1e17, 3],
  [Number.POSITIVE_INFINITY, 0],
];

export interface Timestamp {
  /** Unix microseconds. */
  timeUs: number;
  /** Nanoseconds within the microsecond, 0 to 999. */
  nanoseconds: number;
}

const toTimestamp = (ns: bigint): Timestamp | null => {
  const nanoseconds = ((ns % 1_000n) + 1_000n) % 1_000n;
  const timeUs = Number((ns - nanoseconds) / 1_000n);
  return Number.isSafeInteger(timeUs) ? { timeUs, nanoseconds: Number(nanoseconds) } : null;
};

/** Parses the digits of a Unix time. Keeps them as text, because a double cannot represent nanoseconds. */
const parseEpoch = (text: string): Timestamp | null => {
  const [, sign = '', whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined) return null;
  const [, digits] = UNITS.find(([max]) => Number(whole) < max)!;
  return toTimestamp(BigInt(`${sign}${whole}${fraction.slice(0, digits).padEnd(digits, '0')}`));
};

const EPOCH = /^\d{9,}(?:\.\d+)?$/;
const DATE = /^\d{4}-\d\d-\d\d$/;
const FRACTION = /\d\d:\d\d:\d\d[.,:](\d{1,9})/;

const toIso = (text: string): string => {
  if (DATE.test(text)) return `${text}T00:00`;
  return /UTC$/i.test(text) ? `${text.slice(0, -'UTC'.length).trimEnd()}Z` : text;
};

/**
 * Parses an `UPDATED_AT`. A date and time without a zone is UTC. The unit of a number (s, ms, µs or ns) is inferred from its
 * magnitude. Returns `null` if invalid.
 */
export const parseTimestamp = (value: JsonValue): Timestamp | null => {
  if (typeof value === 'number') return parseEpoch(String(value));
  if (typeof value !== 'string') return null;
  const text = value.trim();
  if (EPOCH.test(text)) return parseEpoch(text);
  const iso = toIso(text);
  const instant = fromIso(iso, false)?.instant ?? null;
  if (instant === null) return null;
  const [, fraction = ''] = FRACTION.exec(iso) ?? [];
  return toTimestamp(
    BigInt(Math.floor(instant / 1_000)) * 1_000_000_000n + BigInt(fraction.padEnd(NS_DIGITS, '0')),
  );
};
