import { randomUUID } from 'node:crypto';
import { type RunSql, readJson, readNumber, readText, type SqlRow, type Statement } from '../row-readers.ts';

/** Audit log entry. */
export interface AuditEntry {
  /** ID that distinguishes entries of the same millisecond. */
  entryId: string;
  workspaceId: string;
  atMs: number;
  operator: string;
  /** Action such as `campaign.publish`. */
  action: string;
  /** Campaign, session or user that is the target of the action; `''` if none. */
  subject: string;
  /** Details in one line; `''` if none. */
  details: string;
}

export type NewAuditEntry = Omit<AuditEntry, 'entryId'>;

/** Action of an audit entry whose subject is a user. */
export const VIEW_USER = 'user.view';

export const AUDIT_TABLE = `
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
CREATE INDEX operator_audit_of_user ON operator_audit (workspace_id, subject) WHERE action = '${VIEW_USER}';
`;

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

const toAuditEntry = (row: SqlRow): AuditEntry => ({
  entryId: readText(row, 'entry_id'),
  workspaceId: readText(row, 'workspace_id'),
  atMs: readNumber(row, 'at_ms'),
  operator: readText(row, 'operator'),
  action: readText(row, 'action'),
  subject: readText(row, 'subject'),
  details: readText(row, 'details'),
});

export const auditStatement = (entry: NewAuditEntry): Statement => {
  const { workspaceId, atMs, operator, action, subject, details } = entry;
  return {
    sql: `INSERT INTO operator_audit (workspace_id, at_ms, entry_id, operator, action, subject, details)
      VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    values: [workspaceId, atMs, randomUUID(), operator, action, subject, details],
  };
};

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
    return rows.map(toAuditEntry);
  },
});

/**
 * Credential of a sign-in. It is the SHA-256 of a key in hexadecimal digits, or the values of an identity provider's claim that
 * the workspace file maps. The service compares it with the current file at each request.
 */
export type SessionCredential = { keyHash: string } | { issuer: string; claim: string; values: string[] };

/** Session of an operator, until sign-out or expiry. */
export interface OperatorSession {
  workspaceId: string;
  /** SHA-256 of the session's token in hexadecimal digits. The token itself is not stored. */
  sessionId: string;
  operator: string;
  proof: SessionCredential;
  createdAtMs: number;
  seenAtMs: number;
}

export const SESSIONS_TABLE = `
CREATE TABLE operator_sessions (
  session_id TEXT NOT NULL PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  operator TEXT NOT NULL,
  -- Hash of a key, or claims of an identity provider.
  proof JSON NOT NULL,
  created_at_ms INTEGER NOT NULL,
  seen_at_ms INTEGER NOT NULL,
  -- Last open campaign, and until when.
  open_campaign_id TEXT,
  open_at_ms INTEGER
);
`;

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

const toOperatorSession = (row: SqlRow): OperatorSession => ({
  workspaceId: readText(row, 'workspace_id'),
  sessionId: readText(row, 'session_id'),
  operator: readText(row, 'operator'),
  proof: readJson(row, 'proof'),
  createdAtMs: readNumber(row, 'created_at_ms'),
  seenAtMs: readNumber(row, 'seen_at_ms'),
});

export const createSessionStore = (run: RunSql): SessionStore => ({
  async openSession({ workspaceId, sessionId, operator, proof, createdAtMs, seenAtMs }) {
    await run(
      `INSERT INTO operator_sessions (session_id, workspace_id, operator, proof, created_at_ms, seen_at_ms)
       VALUES ($1, $2, $3, $4, $5, $6)`,
      [sessionId, workspaceId, operator, JSON.stringify(proof), createdAtMs, seenAtMs],
    );
  },

  async session(sessionId) {
    const [row] = await run('SELECT * FROM operator_sessions WHERE session_id = $1', [sessionId]);
    return row ? toOperatorSession(row) : null;
  },

  async sessions(workspaceId) {
    const rows = await run(
      'SELECT * FROM operator_sessions WHERE workspace_id = $1 ORDER BY seen_at_ms DESC',
      [workspaceId],
    );
    return rows.map(toOperatorSession);
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
