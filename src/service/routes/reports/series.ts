import * as z from 'zod/mini';
import { DAY_MS, HOUR_MS } from '../../../protocol/index.ts';
import { described } from '../../../protocol/schemas/index.ts';
import { choice, integer, time } from '../../api/query.ts';
import { HttpError } from '../../http/http-request.ts';
import type { QuarterHour } from '../../results/event-counts.ts';
import { parseDate } from '../../users/dates.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { ZonedCalendar } from '../../zoned-calendar.ts';

/** Query parameters of a series by day. */
export const daysQuery = {
  length: integer('length', { min: 1, max: 100, description: 'Days, 1 to 100.' }),
  ending_at: time('ending_at', 'Last day; default today.'),
};

/** Query parameters of a series by day or hour. */
export const seriesQuery = {
  length: integer('length', { min: 1, max: 100, description: 'Days or hours, 1 to 100.' }),
  ending_at: time('ending_at', 'Last day or hour; default now.'),
  unit: choice('unit', ['day', 'hour'], '`day` (default) or `hour`.'),
  app_id: z.optional(z.string().check(described('Only this app; default all.'))),
};

interface DaysQuery {
  length: number;
  ending_at?: string | undefined;
}

interface SeriesQuery extends DaysQuery {
  unit?: 'day' | 'hour' | undefined;
  app_id?: string | undefined;
}

const DATE = /^\d{4}-\d\d-\d\d$/;
/** Returns the date `days` later, computed in UTC because each UTC day has 24 hours. */
const addDays = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);

/** First date of a series. No series has earlier data, and earlier dates would need another format. */
const FIRST_DAY = '1971-01-01';

/** Returns the days of a query, oldest first. Days, including dates without a time, are in the workspace's time zone. */
export const getDays = (
  { length, ending_at: endingAt }: DaysQuery,
  calendar: ZonedCalendar,
  now: number,
): string[] => {
  const last =
    endingAt !== undefined && DATE.test(endingAt)
      ? endingAt
      : calendar.toDay(endingAt === undefined ? now : parseDate(endingAt)!);
  if (last < FIRST_DAY) throw new HttpError(400, "'ending_at' must be after 1970");
  return Array.from({ length }, (_, index) => addDays(last, index + 1 - length));
};

/** Series by days such as `2026-03-01`, or by hours such as `2026-03-01T14:00:00.000Z`, oldest first. */
export interface Series {
  fromMs: number;
  toMs: number;
  /** Returns the sum of `measure` for each of `times`, in their order. */
  sum(rows: readonly QuarterHour[], measure: 'quantity' | 'revenue'): [time: string, sum: number][];
}

/** `findTime`: returns the element of `times` that contains a quarter hour. */
const sumByTime =
  (times: readonly string[], findTime: (ms: number) => string): Series['sum'] =>
  (rows, measure) => {
    const sums = new Map(times.map((time) => [time, 0]));
    for (const row of rows) {
      const time = findTime(row.startsAtMs);
      sums.set(time, sums.get(time)! + row[measure]);
    }
    return [...sums];
  };

/** Returns the last instant of a series by hour. A date without a time ends with its day in the workspace's time zone. */
const getEndMs = (endingAt: string | undefined, calendar: ZonedCalendar, now: number): number => {
  if (endingAt === undefined) return now;
  return DATE.test(endingAt) ? calendar.startOf(addDays(endingAt, 1)) - 1 : parseDate(endingAt)!;
};

/** Returns the range of a query, and a function that sums rows by day or hour, oldest first. Throws a 400 if the app is unknown. */
export const toSeries = (query: SeriesQuery, { calendar, appIds }: Workspace, now: number): Series => {
  const { length, unit = 'day', ending_at: endingAt, app_id: appId } = query;
  if (appId !== undefined && !appIds.has(appId)) throw new HttpError(400, 'Invalid app_id');
  if (unit === 'day') {
    const times = getDays(query, calendar, now);
    return {
      fromMs: calendar.startOf(times[0]!),
      toMs: calendar.startOf(addDays(times.at(-1)!, 1)),
      sum: sumByTime(times, calendar.toDay),
    };
  }
  const toHourStart = (ms: number) => Math.floor(ms / HOUR_MS) * HOUR_MS;
  const format = (ms: number) => new Date(ms).toISOString();
  const lastMs = toHourStart(getEndMs(endingAt, calendar, now));
  const fromMs = lastMs - (length - 1) * HOUR_MS;
  const times = Array.from({ length }, (_, index) => format(fromMs + index * HOUR_MS));
  return { fromMs, toMs: lastMs + HOUR_MS, sum: sumByTime(times, (ms) => format(toHourStart(ms))) };
};
