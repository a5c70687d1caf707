/** The tables of a PostgreSQL database, as `docs/data.md` describes them: those of SQLite, with the native types. */
export const TABLES = `
  CREATE TABLE users (
    user_id bigint PRIMARY KEY,
    workspace_id text NOT NULL,
    external_id text,
    profile jsonb, -- NULL while the user has banner events and no profile
    version bigint NOT NULL, -- counts the writes of the row
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
  ) WITH (fillfactor = 70); -- room on the page for the next version of a row

  CREATE TABLE user_keys (
    workspace_id text NOT NULL COLLATE "C",
    key text NOT NULL COLLATE "C", -- kind:value, such as email:kim@example.org
    user_id bigint NOT NULL,
    PRIMARY KEY (workspace_id, key, user_id)
  );
  -- These name one user. Of two replicas that give one away at once, the second starts again.
  CREATE UNIQUE INDEX user_keys_single ON user_keys (workspace_id, key)
    WHERE key ^@ 'external_id' OR key ^@ 'alias';

  -- Custom events have a name; purchases have a product_id, a price, a currency and a quantity.
  CREATE TABLE events (
    event_id bigint GENERATED ALWAYS AS IDENTITY,
    workspace_id text NOT NULL,
    user_id bigint NOT NULL,
    name text,
    product_id text,
    price double precision,
    currency text,
    quantity integer,
    app_id text,
    time timestamptz NOT NULL,
    received_at timestamptz NOT NULL,
    properties jsonb,
    PRIMARY KEY (user_id, event_id)
  );
  CREATE INDEX events_by_name ON events (workspace_id, name, product_id, received_at);

  CREATE TABLE banner_events (
    user_id bigint NOT NULL,
    banner_id text NOT NULL COLLATE "C",
    event_type text NOT NULL COLLATE "C", -- impression, click or dismiss
    time timestamptz NOT NULL, -- as sent; a wrong clock may put it into the future
    workspace_id text NOT NULL,
    campaign_id text NOT NULL,
    variant_id text, -- NULL of a control banner
    placement_id text NOT NULL,
    app_id text NOT NULL,
    is_control boolean NOT NULL,
    is_test_send boolean NOT NULL,
    received_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, banner_id, event_type, time)
  );

  -- What a decision needs to know of a user and a campaign; without test sends.
  CREATE TABLE user_campaigns (
    user_id bigint NOT NULL,
    campaign_id text NOT NULL COLLATE "C",
    workspace_id text NOT NULL,
    variant_id text, -- of the earliest impression
    is_control boolean NOT NULL,
    impressions integer NOT NULL,
    first_impression_at timestamptz,
    last_impression_at timestamptz,
    clicks integer NOT NULL,
    dismissals integer NOT NULL,
    last_dismissal_at timestamptz,
    round integer NOT NULL,
    PRIMARY KEY (user_id, campaign_id)
  );
  CREATE INDEX user_campaigns_of_campaign ON user_campaigns (workspace_id, campaign_id);

  CREATE TABLE data_points (
    workspace_id text NOT NULL,
    day date NOT NULL, -- UTC
    points bigint NOT NULL,
    PRIMARY KEY (workspace_id, day)
  );

  CREATE TABLE secrets (workspace_id text PRIMARY KEY, secret text NOT NULL);

  -- Unlogged: after a crash of the database the windows begin anew.
  CREATE UNLOGGED TABLE rate_windows (
    key text NOT NULL COLLATE "C",
    start_at timestamptz NOT NULL,
    end_at timestamptz NOT NULL,
    taken bigint NOT NULL,
    PRIMARY KEY (key, start_at)
  );
`;
