import { MEASURES } from './measures.ts';

const eventColumns = MEASURES.map(({ events }) => `  ${events} INTEGER NOT NULL,`).join('\n');
const userColumns = MEASURES.map(({ users }) => `  ${users} INTEGER NOT NULL, -- with at least one`).join(
  '\n',
);

/** Tables that the results consumer derives from the feed. No other code writes them. */
export const RESULTS_TABLES = `
-- Cursor of each consumer of the feed, committed together with its effect.
CREATE TABLE feed_cursors (
  consumer TEXT NOT NULL PRIMARY KEY,
  events INTEGER NOT NULL, -- event_id
  banner_events INTEGER NOT NULL, -- banner_event_id
  user_changes INTEGER NOT NULL, -- change_id
  applied_change_ids JSON NOT NULL, -- change_ids after user_changes that are already applied
  last_received_at TIMESTAMP NOT NULL -- receipt of the last banner event read
) WITHOUT ROWID;

-- Results of each user in a campaign.
CREATE TABLE user_results (
  user_id INTEGER NOT NULL,
  campaign_id TEXT NOT NULL,
  month TEXT NOT NULL, -- of days, such as 2026-03; '' for all time
  workspace_id TEXT NOT NULL,
  counts JSON NOT NULL, -- [impressions, clicks, dismissals] by dimension: day:2026-03-01 in a month, else '', placement:home_hero and language:pt-BR
  variant_id TEXT, -- of the earliest impression; this and the rest for all time only
  first_impression_at TIMESTAMP,
  goals JSON, -- [events, revenue, currencies] by reached goal
  pruned_goals JSON, -- part of goals with events deleted by retention
  PRIMARY KEY (user_id, campaign_id, month)
) WITHOUT ROWID;

CREATE TABLE campaign_counts (
  workspace_id TEXT NOT NULL,
  campaign_id TEXT NOT NULL,
  variant_id TEXT NOT NULL, -- '' of the control group
  dimension TEXT NOT NULL, -- '' for all, else day:2026-03-01, placement:home_hero or language:pt-BR
${eventColumns}
${userColumns}
  PRIMARY KEY (workspace_id, campaign_id, variant_id, dimension)
) WITHOUT ROWID;

CREATE TABLE campaign_goals (
  workspace_id TEXT NOT NULL,
  campaign_id TEXT NOT NULL,
  goal TEXT NOT NULL, -- such as 86400000 event:signed_up, with the attribution window in milliseconds
  added_after INTEGER NOT NULL, -- event_id: later events count as they are read
  backfilled_through INTEGER NOT NULL, -- event_id: earlier events up to this are counted
  PRIMARY KEY (workspace_id, campaign_id, goal)
) WITHOUT ROWID;

CREATE TABLE goal_counts (
  workspace_id TEXT NOT NULL,
  campaign_id TEXT NOT NULL,
  variant_id TEXT NOT NULL, -- '' of the control group
  goal TEXT NOT NULL, -- as in campaign_goals
  currencies TEXT NOT NULL, -- of a user's purchases: '', EUR, or EUR,PLN
  converted_users INTEGER NOT NULL,
  revenue FLOAT NOT NULL,
  revenue_sum_of_squares FLOAT NOT NULL, -- of the revenue of each user
  PRIMARY KEY (workspace_id, campaign_id, variant_id, goal, currencies)
) WITHOUT ROWID;

-- Custom events and purchases by quarter hour, because every time zone starts its days at one.
CREATE TABLE event_counts (
  workspace_id TEXT NOT NULL,
  kind TEXT NOT NULL, -- event or purchase
  name TEXT NOT NULL, -- of the event or product; '' for all products
  starts_at TIMESTAMP NOT NULL, -- of the quarter hour
  app_id TEXT NOT NULL, -- '' if unknown
  currency TEXT NOT NULL, -- '' of events
  quantity INTEGER NOT NULL, -- events, or purchased units
  revenue FLOAT NOT NULL,
  PRIMARY KEY (workspace_id, kind, name, starts_at, app_id, currency)
) WITHOUT ROWID;
`;
