import { offsetMinutes } from '../../protocol/index.ts';

const TEXT =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s*(Z|UTC|[+-]\d\d(?::?\d\d)?)?)?$/i;

/** The largest numbers that are seconds, milliseconds and microseconds; all of them are after the year 5000, or before 1974. */
const UNITS: [number, number][] = [
  [1e11, 1_000_000],
  [1e14, 1_000],
  [1e17, 1],
  [Number.POSITIVE_INFINITY, 0.001],
];

/**
 * What an `UPDATED_AT` says, in Unix microseconds; `null` where it says nothing. A date and time without a zone is UTC; a number is
 * seconds, milliseconds, microseconds or nanoseconds, whichever gives a year of our time.
 */
export const microsecondsOf = (value: unknown): number | null => {
  if (value instanceof Date) return Number.isNaN(Number(value)) ? null : Number(value) * 1_000;
  if (typeof value === 'bigint') return microsecondsOf(Number(value));
  if (typeof value === 'number') {
    const unit = UNITS.find(([max]) => Math.abs(value) < max);
    return Number.isFinite(value) && unit ? Math.floor(value * unit[1]) : null;
  }
  if (typeof value !== 'string') return null;
  const text = value.trim();
  if (/^\d{9,}$/.test(text)) return microsecondsOf(Number(text));
  const found = TEXT.exec(text);
  if (!found) return null;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone = 'Z'] = found;
  const ms = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  );
  // A month of 13 would be January of the next year.
  const isReal = new Date(ms).toISOString().startsWith(`${year}-${month}-${day}`) && Number(minute) < 60;
  const offset = offsetMinutes(/utc/i.test(zone) ? 'Z' : zone);
  if (!isReal || Number(second) > 59 || offset === null) return null;
  return (ms - offset * 60_000) * 1_000 + Number(fraction.slice(0, 6).padEnd(6, '0'));
};
