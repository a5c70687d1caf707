import { randomUUID } from 'node:crypto';
import { type RunSql, readText, type Statement } from '../sql/row-readers.ts';
import { bigint, defineRow, defineTable, json, orNull, type RowOf, text } from '../sql/table.ts';
import { createInsert } from '../sql/writes.ts';

/** Action of an audit entry whose subject is a user. */
export const VIEW_USER = 'user.view';

export const OPERATOR_AUDIT = defineTable(
  'operator_audit',
  {
    workspaceId: text('workspace_id'),
    atMs: bigint('at_ms'),
    /** ID that distinguishes entries of the same millisecond. */
    entryId: text('entry_id'),
    operator: text('operator'),
    /** Action such as `campaign.publish`. */
    action: text('action'),
    /** Campaign, session or user that is the target of the action; `''` if none. */
    subject: text('subject'),
    /** Details in one line; `''` if none. */
    details: text('details'),
  },
  {
    key: 'workspace_id, at_ms, entry_id',
    hasLargeRows: true,
    indexes: `-- For the erasure of a user.
CREATE INDEX operator_audit_of_user ON operator_audit (workspace_id, subject) WHERE action = '${VIEW_USER}';
`,
  },
);

/** Audit log entry. */
export type AuditEntry = RowOf<typeof OPERATOR_AUDIT>;
export type NewAuditEntry = Omit<AuditEntry, 'entryId'>;

/** Returns a statement that removes a user's ID from audit entries, but keeps the entries. */
export const redactAuditSubject = (workspaceId: string, subject: string): string =>
  `UPDATE operator_audit SET subject = ''
   WHERE workspace_id = ${workspaceId} AND action = '${VIEW_USER}' AND subject = ${subject}`;

/** Append-only audit log. */
export interface AuditStore {
  addAudit(entry: NewAuditEntry): Promise<void>;
  /** Returns entries, newest first. With `before`, returns only older entries. */
  audit(
    workspaceId: string,
    page: { before?: Pick<AuditEntry, 'atMs' | 'entryId'>; limit: number },
  ): Promise<AuditEntry[]>;
}

/** Position that sorts before every entry. */
const NEWEST = { atMs: Number.MAX_SAFE_INTEGER, entryId: '' };

const addEntry = createInsert(OPERATOR_AUDIT);

export const auditStatement = (entry: NewAuditEntry): Statement =>
  addEntry({ ...entry, entryId: randomUUID() });

export const createAuditStore = (run: RunSql): AuditStore => ({
  async addAudit(entry) {
    const { sql, values } = auditStatement(entry);
    await run(sql, values);
  },

  async audit(workspaceId, { before = NEWEST, limit }) {
    const rows = await run(
      `SELECT * FROM operator_audit WHERE workspace_id = $1 AND (at_ms < $2 OR (at_ms = $2 AND entry_id > $3))
       ORDER BY at_ms DESC, entry_id LIMIT $4`,
      [workspaceId, before.atMs, before.entryId, limit],
    );
    return rows.map(OPERATOR_AUDIT.read);
  },
});

/**
 * Credential of a sign-in. It is the SHA-256 of a key in hexadecimal digits, or the values of an identity provider's claim that
 * the workspace file maps. The service compares it with the current file at each request.
 */
export type SessionCredential = { keyHash: string } | { issuer: string; claim: string; values: string[] };

const OPERATOR_SESSION = defineRow({
  /** SHA-256 of the session's token in hexadecimal digits. The token itself is not stored. */
  sessionId: text('session_id'),
  workspaceId: text('workspace_id'),
  operator: text('operator'),
  proof: json<SessionCredential>('proof'),
  createdAtMs: bigint('created_at_ms'),
  seenAtMs: bigint('seen_at_ms'),
});

/** Session of an operator, until sign-out or expiry. */
export type OperatorSession = RowOf<typeof OPERATOR_SESSION>;

export const OPERATOR_SESSIONS = defineTable(
  'operator_sessions',
  {
    ...OPERATOR_SESSION.fields,
    /** Campaign that the operator opened last; `null` if none. */
    openCampaignId: orNull(text('open_campaign_id')),
    /** Last time at which the campaign was open. */
    openAtMs: orNull(bigint('open_at_ms')),
  },
  { key: 'session_id', hasLargeRows: true },
);

/** Store of open sessions. */
export interface SessionStore {
  openSession(session: OperatorSession): Promise<void>;
  /** Returns the session with this ID; `null` if none. */
  session(sessionId: string): Promise<OperatorSession | null>;
  /** Returns all open sessions of the workspace. */
  sessions(workspaceId: string): Promise<OperatorSession[]>;
  /** Records when a session was last used. */
  touchSession(sessionId: string, seenAtMs: number): Promise<void>;
  /** Records the campaign that the session has open. */
  openCampaign(sessionId: string, campaignId: string, nowMs: number): Promise<void>;
  /** Returns the names of operators who had a campaign open since `sinceMs`, in alphabetical order. */
  operatorsIn(workspaceId: string, campaignId: string, sinceMs: number): Promise<string[]>;
  /** Closes a session. Has no effect if it does not exist. */
  closeSession(sessionId: string): Promise<void>;
  /** Closes sessions that were created, or last seen, before these times. */
  closeOldSessions(createdBeforeMs: number, seenBeforeMs: number): Promise<void>;
}

const addSession = createInsert(OPERATOR_SESSIONS);

export const createSessionStore = (run: RunSql): SessionStore => ({
  async openSession(session) {
    const { sql, values } = addSession(session);
    await run(sql, values);
  },

  async session(sessionId) {
    const [row] = await run('SELECT * FROM operator_sessions WHERE session_id = $1', [sessionId]);
    return row ? OPERATOR_SESSION.read(row) : null;
  },

  async sessions(workspaceId) {
    const rows = await run(
      'SELECT * FROM operator_sessions WHERE workspace_id = $1 ORDER BY seen_at_ms DESC',
      [workspaceId],
    );
    return rows.map(OPERATOR_SESSION.read);
  },

  async touchSession(sessionId, seenAtMs) {
    await run('UPDATE operator_sessions SET seen_at_ms = $2 WHERE session_id = $1', [sessionId, seenAtMs]);
  },

  async openCampaign(sessionId, campaignId, nowMs) {
    await run('UPDATE operator_sessions SET open_campaign_id = $2, open_at_ms = $3 WHERE session_id = $1', [
      sessionId,
      campaignId,
      nowMs,
    ]);
  },

  async operatorsIn(workspaceId, campaignId, sinceMs) {
    const rows = await run(
      `SELECT DISTINCT operator FROM operator_sessions
       WHERE workspace_id = $1 AND open_campaign_id = $2 AND open_at_ms >= $3 ORDER BY operator`,
      [workspaceId, campaignId, sinceMs],
    );
    return rows.map((row) => readText(row, 'operator'));
  },

  async closeSession(sessionId) {
    await run('DELETE FROM operator_sessions WHERE session_id = $1', [sessionId]);
  },

  async closeOldSessions(createdBeforeMs, seenBeforeMs) {
    await run('DELETE FROM operator_sessions WHERE created_at_ms < $1 OR seen_at_ms < $2', [
      createdBeforeMs,
      seenBeforeMs,
    ]);
  },
});
