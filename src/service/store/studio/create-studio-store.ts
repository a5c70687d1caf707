import { randomUUID } from 'node:crypto';
import {
  type AuditEntry,
  type Draft,
  LOOK_AT_USER,
  type OperatorSession,
  type Release,
  type StudioStore,
} from './studio-store.ts';

export type StudioValue = string | number | null;
type Row = Record<string, unknown>;
/** Runs one statement, whose values are `$1`, `$2` …, and resolves with its rows once it is stored. */
export type RunStudio = (sql: string, values: StudioValue[]) => Promise<Row[]>;

/** Two who publish at once want the same number: the slower one takes the next. */
const MAX_TRIES = 20;

const text = (row: Row, column: string) => row[column] as string;
/** PostgreSQL's driver gives a `bigint` as text. */
const number = (row: Row, column: string) => Number(row[column]);
/** PostgreSQL's driver parses JSON, SQLite's does not. */
const json = (row: Row, column: string): unknown => {
  const value = row[column];
  return typeof value === 'string' ? JSON.parse(value) : value;
};

const releaseOf = (row: Row): Release => ({
  workspaceId: text(row, 'workspace_id'),
  release: number(row, 'release'),
  campaignId: text(row, 'campaign_id'),
  campaign: json(row, 'campaign'),
  basedOn: number(row, 'based_on'),
  author: text(row, 'author'),
  note: text(row, 'note'),
  createdAtMs: number(row, 'created_at_ms'),
  liveAtMs: number(row, 'live_at_ms'),
});

const draftOf = (row: Row): Draft => ({
  workspaceId: text(row, 'workspace_id'),
  campaignId: text(row, 'campaign_id'),
  campaign: json(row, 'campaign'),
  revision: text(row, 'revision'),
  basedOn: number(row, 'based_on'),
  editor: text(row, 'editor'),
  updatedAtMs: number(row, 'updated_at_ms'),
});

const sessionOf = (row: Row): OperatorSession => ({
  workspaceId: text(row, 'workspace_id'),
  sessionId: text(row, 'session_id'),
  operator: text(row, 'operator'),
  role: row['role'] as string | null,
  people: number(row, 'people') === 1,
  createdAtMs: number(row, 'created_at_ms'),
  seenAtMs: number(row, 'seen_at_ms'),
});

const auditOf = (row: Row): AuditEntry => ({
  workspaceId: text(row, 'workspace_id'),
  atMs: number(row, 'at_ms'),
  operator: text(row, 'operator'),
  action: text(row, 'action'),
  subject: text(row, 'subject'),
  details: text(row, 'details'),
});

/** The Studio's tables on either store: each verb is one statement that both understand. */
export const createStudioStore = (run: RunStudio): StudioStore => {
  const newestRelease = async (workspaceId: string): Promise<number> => {
    const [row] = await run('SELECT max(release) AS newest FROM releases WHERE workspace_id = $1', [
      workspaceId,
    ]);
    return Number(row?.['newest'] ?? 0);
  };
  const newestOf = async (workspaceId: string, campaignId: string): Promise<number> => {
    const [row] = await run(
      'SELECT max(release) AS newest FROM releases WHERE workspace_id = $1 AND campaign_id = $2',
      [workspaceId, campaignId],
    );
    return Number(row?.['newest'] ?? 0);
  };

  return {
    newestRelease,

    async liveReleases(workspaceId, nowMs) {
      const rows = await run(
        `SELECT * FROM releases WHERE workspace_id = $1 AND release IN (
           SELECT max(release) FROM releases WHERE workspace_id = $1 AND live_at_ms <= $2 GROUP BY campaign_id
         )`,
        [workspaceId, nowMs],
      );
      const [...firsts] = await run(
        'SELECT campaign_id, min(release) AS first FROM releases WHERE workspace_id = $1 GROUP BY campaign_id',
        [workspaceId],
      );
      const first = new Map(firsts.map((row) => [text(row, 'campaign_id'), number(row, 'first')]));
      return rows
        .map(releaseOf)
        .sort((one, other) => first.get(one.campaignId)! - first.get(other.campaignId)!);
    },

    async plannedReleases(workspaceId, nowMs) {
      const rows = await run(
        'SELECT * FROM releases WHERE workspace_id = $1 AND live_at_ms > $2 ORDER BY live_at_ms, release',
        [workspaceId, nowMs],
      );
      return rows.map(releaseOf);
    },

    async releases(workspaceId, { campaignId, before = Number.MAX_SAFE_INTEGER, limit }) {
      const rows = await run(
        `SELECT * FROM releases WHERE workspace_id = $1 AND release < $2 AND ($3 = '' OR campaign_id = $3)
         ORDER BY release DESC LIMIT $4`,
        [workspaceId, before, campaignId ?? '', limit],
      );
      return rows.map(releaseOf);
    },

    async release(workspaceId, release) {
      const [row] = await run('SELECT * FROM releases WHERE workspace_id = $1 AND release = $2', [
        workspaceId,
        release,
      ]);
      return row ? releaseOf(row) : null;
    },

    async addRelease(added) {
      const { workspaceId, campaignId, campaign, basedOn, author, note, createdAtMs, liveAtMs } = added;
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        if ((await newestOf(workspaceId, campaignId)) !== basedOn) return null;
        const release = (await newestRelease(workspaceId)) + 1;
        const [row] = await run(
          `INSERT INTO releases (workspace_id, release, campaign_id, campaign, based_on, author, note, created_at_ms, live_at_ms)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING release`,
          [
            workspaceId,
            release,
            campaignId,
            campaign === null ? null : JSON.stringify(campaign),
            basedOn,
            author,
            note,
            createdAtMs,
            liveAtMs,
          ],
        );
        if (row) return release;
      }
      throw new Error('The release could not be numbered: too many were published at once');
    },

    async drafts(workspaceId) {
      const rows = await run('SELECT * FROM drafts WHERE workspace_id = $1', [workspaceId]);
      return rows.map(draftOf);
    },

    async draft(workspaceId, campaignId) {
      const [row] = await run('SELECT * FROM drafts WHERE workspace_id = $1 AND campaign_id = $2', [
        workspaceId,
        campaignId,
      ]);
      return row ? draftOf(row) : null;
    },

    async saveDraft({ workspaceId, campaignId, campaign, revision, basedOn, editor, updatedAtMs }, over) {
      const values = [
        workspaceId,
        campaignId,
        JSON.stringify(campaign),
        revision,
        basedOn,
        editor,
        updatedAtMs,
      ];
      const rows =
        over === null
          ? await run(
              `INSERT INTO drafts (workspace_id, campaign_id, campaign, revision, based_on, editor, updated_at_ms)
               VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING revision`,
              values,
            )
          : await run(
              `UPDATE drafts SET campaign = $3, revision = $4, based_on = $5, editor = $6, updated_at_ms = $7
               WHERE workspace_id = $1 AND campaign_id = $2 AND revision = $8 RETURNING revision`,
              [...values, over],
            );
      return rows.length === 1;
    },

    async removeDraft(workspaceId, campaignId, revision) {
      const rows = await run(
        `DELETE FROM drafts WHERE workspace_id = $1 AND campaign_id = $2 AND revision = $3 RETURNING revision`,
        [workspaceId, campaignId, revision],
      );
      return rows.length === 1;
    },

    async openSession({ workspaceId, sessionId, operator, role, people, createdAtMs, seenAtMs }) {
      await run(
        `INSERT INTO operator_sessions (session_id, workspace_id, operator, role, people, created_at_ms, seen_at_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
        [sessionId, workspaceId, operator, role, people ? 1 : 0, createdAtMs, seenAtMs],
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

    async addAudit({ workspaceId, atMs, operator, action, subject, details }) {
      await run(
        `INSERT INTO operator_audit (workspace_id, at_ms, entry_id, operator, action, subject, details)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
        [workspaceId, atMs, randomUUID(), operator, action, subject, details],
      );
    },

    async forgetSubject(workspaceId, subject) {
      await run(
        `UPDATE operator_audit SET subject = '' WHERE workspace_id = $1 AND action = '${LOOK_AT_USER}' AND subject = $2`,
        [workspaceId, subject],
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
  };
};
