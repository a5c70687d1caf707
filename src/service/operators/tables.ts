import { LOOK_AT_USER } from './audit.ts';

/**
 * The Studio's tables, for both databases. Moments are Unix milliseconds, so that one statement serves both; a campaign is `JSON`, which
 * keeps the order of its members: its differences are shown in it.
 */
export const STUDIO_TABLES = `
CREATE TABLE releases (
  workspace_id TEXT NOT NULL,
  release INTEGER NOT NULL,
  campaign_id TEXT NOT NULL,
  campaign JSON,
  based_on INTEGER NOT NULL,
  author TEXT NOT NULL,
  note TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  live_at_ms INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, release),
  -- Of two releases that continue the same one, the second is a conflict.
  UNIQUE (workspace_id, campaign_id, based_on)
);

CREATE TABLE drafts (
  workspace_id TEXT NOT NULL,
  campaign_id TEXT NOT NULL,
  campaign JSON NOT NULL,
  revision TEXT NOT NULL,
  based_on INTEGER NOT NULL,
  editor TEXT NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, campaign_id)
);

CREATE TABLE operator_sessions (
  session_id TEXT NOT NULL PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  operator TEXT NOT NULL,
  -- The hash of a key, or what an identity provider has said.
  proof JSON NOT NULL,
  created_at_ms INTEGER NOT NULL,
  seen_at_ms INTEGER NOT NULL
);

CREATE TABLE operator_audit (
  workspace_id TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  entry_id TEXT NOT NULL,
  operator TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  details TEXT NOT NULL,
  PRIMARY KEY (workspace_id, at_ms, entry_id)
);
-- For the erasure of a user.
CREATE INDEX operator_audit_of_user ON operator_audit (workspace_id, subject) WHERE action = '${LOOK_AT_USER}';
`;
