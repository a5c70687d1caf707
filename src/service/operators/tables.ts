import { LOOK_AT_USER } from './audit.ts';

/**
 * The Studio's tables, for both stores. `TEXT`, `INTEGER` and `JSON` stand for the type that each store has for them;
 * moments are Unix milliseconds, so that one statement serves both.
 */
const TABLES = `
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
  -- Of one whom an identity provider vouches for; of others the workspace file says it.
  role TEXT,
  people INTEGER NOT NULL,
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

const typed = (types: { text: string; integer: string; json: string }): string =>
  TABLES.replaceAll(' TEXT', ` ${types.text}`)
    .replaceAll(' INTEGER', ` ${types.integer}`)
    .replaceAll(' JSON', ` ${types.json}`);

export const SQLITE_STUDIO_TABLES = typed({ text: 'TEXT', integer: 'INTEGER', json: 'TEXT' }).replaceAll(
  '\n);',
  '\n) STRICT;',
);

/** `json`, not `jsonb`: a campaign keeps the order of its members, in which its differences are shown. */
export const POSTGRES_STUDIO_TABLES = typed({ text: 'text COLLATE "C"', integer: 'bigint', json: 'json' });
