import { randomUUID } from 'node:crypto';
import type { PageOptions } from './page-options.ts';
import { numberIn, type Row, type RunSql, textIn } from './run-sql.ts';

/** Who did what, for those who must answer for it. */
export interface AuditEntry {
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

/** Takes a subject that was a user out of the audit; the entries stay. */
export const forgetSubject = (workspaceId: string, subject: string): string =>
  `UPDATE operator_audit SET subject = ''
   WHERE workspace_id = ${workspaceId} AND action = '${LOOK_AT_USER}' AND subject = ${subject}`;

/** The audit: entries are only ever added. */
export interface AuditStore {
  /** Adds an entry to the audit. */
  addAudit(entry: AuditEntry): Promise<void>;
  /** Newest first. */
  audit(workspaceId: string, page: PageOptions): Promise<AuditEntry[]>;
}

const auditOf = (row: Row): AuditEntry => ({
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

  async audit(workspaceId, { before = Number.MAX_SAFE_INTEGER, limit }) {
    const rows = await run(
      `SELECT * FROM operator_audit WHERE workspace_id = $1 AND at_ms < $2
       ORDER BY at_ms DESC, entry_id LIMIT $3`,
      [workspaceId, before, limit],
    );
    return rows.map(auditOf);
  },
});
