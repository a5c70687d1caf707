import { Cron } from 'croner';
import { HOUR_MS, MINUTE_MS } from '../../protocol/index.ts';
import { getErrorMessage } from '../log.ts';

/** Schedule of an integration: cron expression with time zone, on demand, or none. */
export type Schedule =
  | { kind: 'cron'; expression: string; timeZone: string }
  | { kind: 'on_demand' | 'paused' };

const MIN_GAP_MS = 15 * MINUTE_MS;
/** Maximum interval between runs: a month, plus the hour by which a clock may be set back. */
const MAX_GAP_MS = (31 * 24 + 1) * HOUR_MS;
/** Number of runs to check: more than a day at the shortest interval, and all months of a leap year. */
const CHECKED_RUNS = 100;

const createCron = (expression: string, timezone: string) =>
  new Cron(expression, { mode: '5-part', timezone, paused: true });

/** Validates a cron expression. Returns the problem; `null` if it runs between every 15 minutes and every month. */
export const scheduleProblem = (expression: string): string | null => {
  let cron: Cron;
  try {
    cron = createCron(expression, 'UTC');
  } catch (error) {
    return `expected "on_demand", "paused" or a cron expression such as "0 4 * * *" (${getErrorMessage(error)})`;
  }
  const runs = cron.nextRuns(CHECKED_RUNS, new Date('2027-12-31T23:59:59Z')).map(Number);
  const gaps = runs.slice(1).map((ms, index) => ms - runs[index]!);
  if (runs.length < CHECKED_RUNS || Math.max(...gaps) > MAX_GAP_MS)
    return 'expected a run at least once a month';
  return Math.min(...gaps) < MIN_GAP_MS ? 'expected at least 15 minutes between two runs' : null;
};

/**
 * Returns the time of the next run after `afterMs` in Unix milliseconds; `null` if none. A run at a local time that a DST change
 * skips starts an hour later. A run at a local time that occurs twice starts once.
 */
export const nextRunMs = (schedule: Schedule, afterMs: number): number | null => {
  if (schedule.kind !== 'cron') return null;
  const next = createCron(schedule.expression, schedule.timeZone).nextRun(new Date(afterMs));
  return next && Number(next);
};
