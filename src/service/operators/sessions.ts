import { jsonIn, numberIn, type RunSql, type SqlRow, textIn } from './run-sql.ts';

/**
 * What an operator has signed in with: a key, by its SHA-256 in hexadecimal digits, or values of a claim of an identity
 * provider, as far as the workspace file gave them a meaning. It is compared with today's file at each request.
 */
export type SessionProof = { keyHash: string } | { issuer: string; claim: string; values: string[] };

/** An operator who has signed in, until they sign out or the session is too old. */
export interface OperatorSession {
  workspaceId: string;
  /** SHA-256 of the session's token, in hexadecimal digits. The token itself is stored nowhere. */
  sessionId: string;
  operator: string;
  proof: SessionProof;
  createdAtMs: number;
  seenAtMs: number;
}

export const SESSIONS_TABLE = `
CREATE TABLE operator_sessions (
  session_id TEXT NOT NULL PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  operator TEXT NOT NULL,
  -- The hash of a key, or what an identity provider has said.
  proof JSON NOT NULL,
  created_at_ms INTEGER NOT NULL,
  seen_at_ms INTEGER NOT NULL
);
`;

/** Who is signed in. */
export interface SessionStore {
  /** Stores a session. */
  openSession(session: OperatorSession): Promise<void>;
  /** The session of this ID; `null` where there is none. */
  session(sessionId: string): Promise<OperatorSession | null>;
  /** Every session of the workspace that is open. */
  sessions(workspaceId: string): Promise<OperatorSession[]>;
  /** Notes when a session was last used. */
  touchSession(sessionId: string, seenAtMs: number): Promise<void>;
  /** Closes a session. It is no error where there is none. */
  closeSession(sessionId: string): Promise<void>;
  /** Closes those that began, or were seen last, before these moments. */
  closeOldSessions(createdBeforeMs: number, seenBeforeMs: number): Promise<void>;
}

const sessionOf = (row: SqlRow): OperatorSession => ({
  workspaceId: textIn(row, 'workspace_id'),
  sessionId: textIn(row, 'session_id'),
  operator: textIn(row, 'operator'),
  proof: jsonIn(row, 'proof') as SessionProof,
  createdAtMs: numberIn(row, 'created_at_ms'),
  seenAtMs: numberIn(row, 'seen_at_ms'),
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
    return row ? sessionOf(row) : null;
  },

  async sessions(workspaceId) {
    const rows = await run(
      'SELECT * FROM operator_sessions WHERE workspace_id = $1 ORDER BY seen_at_ms DESC',
      [workspaceId],
    );
    return rows.map(sessionOf);
  },

  async touchSession(sessionId, seenAtMs) {
    await run('UPDATE operator_sessions SET seen_at_ms = $2 WHERE session_id = $1', [sessionId, seenAtMs]);
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
