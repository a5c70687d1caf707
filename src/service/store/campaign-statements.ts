/** Statements that both databases understand, but for where their rows come from: `VALUES …`, or a `SELECT`. */

const STATE_COLUMNS = `user_id, campaign_id, workspace_id, variant_id, is_control, impressions, first_impression_at,
  last_impression_at, clicks, dismissals, last_dismissal_at, round, parts`;
const set = (columns: string, value: (column: string) => string) =>
  columns
    .split(/,\s+/)
    .map((column) => `${column} = ${value(column)}`)
    .join(', ');

/** Writes rows of `user_campaigns` in place of those that are there. */
export const writeStates = (source: string): string =>
  `INSERT INTO user_campaigns (${STATE_COLUMNS}) ${source}
   ON CONFLICT (user_id, campaign_id) DO UPDATE SET ${set(
     STATE_COLUMNS.replace(/^user_id, campaign_id, workspace_id, /, ''),
     (column) => `excluded.${column}`,
   )}`;

const COUNTS = 'impressions, clicks, dismissals, exposed, clicked, dismissed';

/** Adds to rows of `campaign_counts`. */
export const addCounts = (source: string): string =>
  `INSERT INTO campaign_counts AS known (workspace_id, campaign_id, variant_id, part, lane, ${COUNTS}) ${source}
   ON CONFLICT (workspace_id, campaign_id, variant_id, part, lane) DO UPDATE SET ${set(
     COUNTS,
     (column) => `known.${column} + excluded.${column}`,
   )}`;

/** The banner events of one user, counted by all that a state has them by. */
export const tallyEvents = (user: string): string =>
  `SELECT campaign_id, event_type, day, placement_id, language, count(*) AS times FROM banner_events
   WHERE user_id = ${user} AND NOT is_test_send GROUP BY campaign_id, event_type, day, placement_id, language`;
