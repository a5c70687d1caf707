import { MINUTE_MS } from '../protocol/index.ts';
import { memoize } from './memoize.ts';

/** Divisor of every UTC offset. */
export const QUARTER_HOUR_MS = 15 * MINUTE_MS;
/** Upper bound of UTC offsets, in quarter hours. */
const MAX_OFFSET_QUARTERS = 15 * 4;

/** Dates in one time zone, formatted as `2026-03-01`. */
export interface ZonedCalendar {
  /** Returns the date at a time in Unix milliseconds. */
  toDay(ms: number): string;
  /** Returns the first instant of a date in Unix milliseconds. It is not midnight if the clock is set forward at midnight. */
  startOf(day: string): number;
}

const CACHED_QUARTERS = 50_000;

/** Creates the calendar of a time zone. Throws a `RangeError` if the time zone is unknown. */
export const createZonedCalendar = (timeZone: string): ZonedCalendar => {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    calendar: 'iso8601',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });

  const ofQuarter = memoize((quarter: number): string => {
    const parts = new Map(
      format.formatToParts(quarter * QUARTER_HOUR_MS).map(({ type, value }) => [type, value]),
    );
    return `${parts.get('year')?.padStart(4, '0')}-${parts.get('month')}-${parts.get('day')}`;
  }, CACHED_QUARTERS);

  return {
    toDay: (ms) => ofQuarter(Math.floor(ms / QUARTER_HOUR_MS)),
    startOf(day) {
      const midnight = Date.parse(day) / QUARTER_HOUR_MS;
      let low = midnight - MAX_OFFSET_QUARTERS;
      let high = midnight + MAX_OFFSET_QUARTERS;
      while (low < high) {
        const middle = Math.floor((low + high) / 2);
        if (ofQuarter(middle) < day) low = middle + 1;
        else high = middle;
      }
      return low * QUARTER_HOUR_MS;
    },
  };
};
