import { EVENT_COUNT_NAMES, MEASURES } from '../profiles/measures.ts';

const eventColumns = MEASURES.map(({ events }) => `  ${events} INTEGER NOT NULL,`).join('\n');
const userColumns = MEASURES.map(
  ({ users }) => `  ${users} INTEGER NOT NULL, -- users with at least one`,
).join('\n');

/** Tables that the results consumer derives from the feed. No other code writes them. */
export const RESULTS_TABLES = `
-- Cursor of each consumer of the feed. A batch commits it together with the rows that it writes.
CREATE TABLE feed_cursors (
  consumer TEXT NOT NULL PRIMARY KEY,
  events INTEGER NOT NULL, -- last event_id read
  banner_events INTEGER NOT NULL, -- last banner_event_id read
  user_changes INTEGER NOT NULL, -- change_id up to which all changes are applied
  applied_change_ids JSON NOT NULL, -- applied change_ids after user_changes
  last_received_at TIMESTAMP NOT NULL -- receipt time of the last banner event read
) WITHOUT ROWID;

-- Results of each user in a campaign: one row for all time, and one for the days of each month.
CREATE TABLE user_results (
  user_id INTEGER NOT NULL,
  campaign_id TEXT NOT NULL,
  month TEXT NOT NULL, -- month such as 2026-03; '' for all time, with the days of the latest month
  workspace_id TEXT NOT NULL,
  counts JSON NOT NULL, -- [${EVENT_COUNT_NAMES.join(', ')}] by dimension: day:2026-03-01, and for all time also '', placement:home_hero and language:pt-BR
  variant_id TEXT, -- variant of the earliest impression; this and the next columns are NULL in months
  first_impression_at TIMESTAMP,
  goals JSON, -- [events, revenue, currencies, day of the first] by goal; NULL if none
  pruned_goals JSON, -- part of goals whose events retention has deleted
  PRIMARY KEY (user_id, campaign_id, month)
) WITHOUT ROWID;

CREATE TABLE campaign_counts (
  workspace_id TEXT NOT NULL,
  campaign_id TEXT NOT NULL,
  variant_id TEXT NOT NULL, -- '' for the control group
  dimension TEXT NOT NULL, -- '' for the total, otherwise day:2026-03-01, placement:home_hero or language:pt-BR
${eventColumns}
${userColumns}
  PRIMARY KEY (workspace_id, campaign_id, variant_id, dimension)
) WITHOUT ROWID;

CREATE TABLE campaign_goals (
  workspace_id TEXT NOT NULL,
  campaign_id TEXT NOT NULL,
  goal TEXT NOT NULL, -- such as 86400000 event:signed_up, with the attribution window in milliseconds
  time_zone TEXT NOT NULL, -- time zone of the days in goal_counts
  added_after INTEGER NOT NULL, -- last event_id before the goal was added; later events count as they are read
  backfilled_through INTEGER NOT NULL, -- event_id up to which the backfill has counted
  PRIMARY KEY (workspace_id, campaign_id, goal)
) WITHOUT ROWID;

CREATE TABLE goal_counts (
  workspace_id TEXT NOT NULL,
  campaign_id TEXT NOT NULL,
  variant_id TEXT NOT NULL, -- '' for the control group
  goal TEXT NOT NULL, -- as in campaign_goals
  day TEXT NOT NULL, -- day of each user's first conversion, such as 2026-03-01
  currencies TEXT NOT NULL, -- currencies of a user's purchases: EUR, or EUR,PLN; '' for events
  converted_users INTEGER NOT NULL,
  revenue FLOAT NOT NULL,
  revenue_sum_of_squares FLOAT NOT NULL, -- sum of the squares of each user's revenue
  PRIMARY KEY (workspace_id, campaign_id, variant_id, goal, day, currencies)
) WITHOUT ROWID;

-- Custom events and purchases by quarter hour, because every UTC offset is a multiple of it.
CREATE TABLE event_counts (
  workspace_id TEXT NOT NULL,
  kind TEXT NOT NULL, -- event or purchase
  name TEXT NOT NULL, -- event name or product ID; '' for all products
  starts_at TIMESTAMP NOT NULL, -- start of the quarter hour
  app_id TEXT NOT NULL, -- '' if unknown
  currency TEXT NOT NULL, -- '' for events
  quantity INTEGER NOT NULL, -- number of events, or of purchased units
  revenue FLOAT NOT NULL,
  PRIMARY KEY (workspace_id, kind, name, starts_at, app_id, currency)
) WITHOUT ROWID;
`;
