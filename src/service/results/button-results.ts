import { type RunSql, readNumber, readText, type SqlRow } from '../sql/row-readers.ts';

/** Clicks on one link or button of a variant. */
export interface ButtonResults {
  buttonId: string;
  variantId: string;
  /** Number of clicks. */
  clicks: number;
  /** Number of users with at least one click. */
  clicked: number;
}

/** Clicks on one link or button of a variant on one day. */
export type ButtonDayResults = ButtonResults & { day: string };

/**
 * Condition of the index `banner_events_by_button`. Not the event type, because SQLite would prepare each statement with a
 * parameter for the event type again whenever its value changes.
 */
export const IS_COUNTED_BUTTON = 'button_id IS NOT NULL AND variant_id IS NOT NULL AND NOT is_test_send';

/**
 * Returns a query of the most clicked buttons. It reads events instead of `campaign_counts`, because clients choose the IDs, so the
 * number of such rows would be unlimited. The limit is of the response.
 */
const select = (keys: string, condition: string, limit: number): string =>
  `SELECT ${keys}, count(*) AS clicks, count(DISTINCT user_id) AS clicked FROM banner_events
   WHERE workspace_id = $1 AND campaign_id = $2 AND ${condition}${IS_COUNTED_BUTTON}
     AND event_type = 'click'
   GROUP BY ${keys} ORDER BY count(*) DESC, ${keys} LIMIT ${limit}`;

const BUTTONS = select('button_id, variant_id', '', 50);
const BUTTON_DAYS = select('button_id, variant_id, day', 'day >= $3 AND day <= $4 AND ', 5_000);

const toButtonResults = (row: SqlRow): ButtonResults => ({
  buttonId: readText(row, 'button_id'),
  variantId: readText(row, 'variant_id'),
  clicks: readNumber(row, 'clicks'),
  clicked: readNumber(row, 'clicked'),
});

/** Reads the 50 most clicked buttons. A click counts for the variant of its banner, until retention deletes it. */
export const readButtons = async (
  run: RunSql,
  workspaceId: string,
  campaignId: string,
): Promise<ButtonResults[]> => (await run(BUTTONS, [workspaceId, campaignId])).map(toButtonResults);

/** Days such as `2026-03-01`, both inclusive. */
export interface ButtonDaysQuery {
  campaignId: string;
  firstDay: string;
  lastDay: string;
}

/** Reads the clicks by button and day. */
export const readButtonDays = async (
  run: RunSql,
  workspaceId: string,
  { campaignId, firstDay, lastDay }: ButtonDaysQuery,
): Promise<ButtonDayResults[]> =>
  (await run(BUTTON_DAYS, [workspaceId, campaignId, firstDay, lastDay])).map((row) => ({
    ...toButtonResults(row),
    day: readText(row, 'day'),
  }));
