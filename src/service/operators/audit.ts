import { randomUUID } from 'node:crypto';
import { numberIn, type RunSql, type SqlRow, textIn } from './run-sql.ts';

/** Who did what, for those who must answer for it. */
export interface AuditEntry {
  /** Tells entries of one millisecond apart. */
  entryId: string;
  workspaceId: string;
  atMs: number;
  operator: string;
  /** For example `publish`. */
  action: string;
  /** What it was done to: a campaign, a session, a user; `''` where there is no such thing. */
  subject: string;
  /** More of it in one line; `''` where there is no more. */
  details: string;
}

/** The action of an audit entry whose subject is a user. */
export const LOOK_AT_USER = 'look at user';

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
CREATE INDEX operator_audit_of_user ON operator_audit (workspace_id, subject) WHERE action = '${LOOK_AT_USER}';
`;

/** Takes a subject that was a user out of the audit; the entries stay. */
export const forgetSubject = (workspaceId: string, subject: string): string =>
  `UPDATE operator_audit SET subject = ''
   WHERE workspace_id = ${workspaceId} AND action = '${LOOK_AT_USER}' AND subject = ${subject}`;

/** The audit: entries are only ever added. */
export interface AuditStore {
  /** Adds an entry to the audit. */
  addAudit(entry: Omit<AuditEntry, 'entryId'>): Promise<void>;
  /** Newest first; with `before` those that follow this entry in that order. */
  audit(
    workspaceId: string,
    page: { before?: Pick<AuditEntry, 'atMs' | 'entryId'>; limit: number },
  ): Promise<AuditEntry[]>;
}

/** Before every entry. */
const NEWEST = { atMs: Number.MAX_SAFE_INTEGER, entryId: '' };

const auditOf = (row: SqlRow): AuditEntry => ({
  entryId: textIn(row, 'entry_id'),
  workspaceId: textIn(row, 'workspace_id'),
  atMs: numberIn(row, 'at_ms'),
  operator: textIn(row, 'operator'),
  action: textIn(row, 'action'),
  subject: textIn(row, 'subject'),
  details: textIn(row, 'details'),
});

export const createAuditStore = (run: RunSql): AuditStore => ({
  async addAudit({ workspaceId, atMs, operator, action, subject, details }) {
    await run(
      `INSERT INTO operator_audit (workspace_id, at_ms, entry_id, operator, action, subject, details)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [workspaceId, atMs, randomUUID(), operator, action, subject, details],
    );
  },

  async audit(workspaceId, { before = NEWEST, limit }) {
    const rows = await run(
      `SELECT * FROM operator_audit WHERE workspace_id = $1 AND (at_ms < $2 OR (at_ms = $2 AND entry_id > $3))
       ORDER BY at_ms DESC, entry_id LIMIT $4`,
      [workspaceId, before.atMs, before.entryId, limit],
    );
    return rows.map(auditOf);
  },
});
