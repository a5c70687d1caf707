import { randomBytes } from 'node:crypto';
import {
  type RunSql,
  readJson,
  readNumber,
  readText,
  type SqlRow,
  type SqlValue,
  type Statement,
} from '../row-readers.ts';

/** Draft of a campaign. All operators share one draft per campaign. */
export interface Draft {
  workspaceId: string;
  campaignId: string;
  campaign: unknown;
  /** Revision, which changes with every save. */
  revision: string;
  /** Release on which the draft is based; 0 if none. */
  basedOn: number;
  editor: string;
  updatedAtMs: number;
}

export const createRevision = (): string => randomBytes(9).toString('base64url');

/** Review of a draft by an operator before publication. */
export interface ReviewEntry {
  operator: string;
  /** Time in ISO 8601. */
  at: string;
  action: 'request' | 'comment' | 'approve' | 'send_back';
  note: string;
  /** Revision of the draft at the time of the review. */
  revision: string;
}

export interface StoredDraft extends Draft {
  /** Reviews, oldest first. */
  review: readonly ReviewEntry[];
}

export const DRAFTS_TABLE = `
CREATE TABLE drafts (
  workspace_id TEXT NOT NULL,
  campaign_id TEXT NOT NULL,
  campaign JSON NOT NULL,
  revision TEXT NOT NULL,
  based_on INTEGER NOT NULL,
  editor TEXT NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  review JSON, -- NULL: no approval request or comment
  PRIMARY KEY (workspace_id, campaign_id)
);
`;

export interface DraftStore {
  /** Returns all drafts of the workspace. */
  drafts(workspaceId: string): Promise<StoredDraft[]>;
  /** Returns the draft of a campaign; `null` if none. */
  draft(workspaceId: string, campaignId: string): Promise<StoredDraft | null>;
  /** Returns the total JSON size in bytes of a workspace's drafts, except the draft of this campaign. */
  otherDraftBytes(workspaceId: string, campaignId: string): Promise<number>;
  /** Saves a draft over revision `over`; `null` if no draft is stored. Returns `false` if the stored revision differs. */
  saveDraft(draft: Draft, over: string | null): Promise<boolean>;
  /** Stores the reviews of a draft. Returns `false` if the draft was changed or reviewed since it was read. */
  reviewDraft(draft: StoredDraft, review: readonly ReviewEntry[]): Promise<boolean>;
  /** Removes a draft. Returns `false` if the stored draft has another revision. */
  removeDraft(workspaceId: string, campaignId: string, revision: string): Promise<boolean>;
}

const toStoredDraft = (row: SqlRow): StoredDraft => ({
  workspaceId: readText(row, 'workspace_id'),
  campaignId: readText(row, 'campaign_id'),
  campaign: readJson(row, 'campaign'),
  revision: readText(row, 'revision'),
  basedOn: readNumber(row, 'based_on'),
  editor: readText(row, 'editor'),
  updatedAtMs: readNumber(row, 'updated_at_ms'),
  review: readJson<ReviewEntry[] | null>(row, 'review') ?? [],
});

const toSqlValues = (draft: Draft): SqlValue[] => {
  const { workspaceId, campaignId, campaign, revision, basedOn, editor, updatedAtMs } = draft;
  return [workspaceId, campaignId, JSON.stringify(campaign), revision, basedOn, editor, updatedAtMs];
};

/** Returns a statement that adds a draft if the campaign has none. */
export const newDraftStatement = (draft: Draft): Statement => ({
  sql: `INSERT INTO drafts (workspace_id, campaign_id, campaign, revision, based_on, editor, updated_at_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING revision`,
  values: toSqlValues(draft),
});

/** Returns a statement that removes a draft if it still has this revision. */
export const removeDraftStatement = (
  workspaceId: string,
  campaignId: string,
  revision: string,
): Statement => ({
  sql: `DELETE FROM drafts WHERE workspace_id = $1 AND campaign_id = $2 AND revision = $3 RETURNING revision`,
  values: [workspaceId, campaignId, revision],
});

export const createDraftStore = (run: RunSql): DraftStore => ({
  async drafts(workspaceId) {
    const rows = await run('SELECT * FROM drafts WHERE workspace_id = $1', [workspaceId]);
    return rows.map(toStoredDraft);
  },

  async draft(workspaceId, campaignId) {
    const [row] = await run('SELECT * FROM drafts WHERE workspace_id = $1 AND campaign_id = $2', [
      workspaceId,
      campaignId,
    ]);
    return row ? toStoredDraft(row) : null;
  },

  async otherDraftBytes(workspaceId, campaignId) {
    const [row] = await run(
      `SELECT coalesce(sum(octet_length(CAST(campaign AS text))), 0) AS bytes FROM drafts
       WHERE workspace_id = $1 AND campaign_id <> $2`,
      [workspaceId, campaignId],
    );
    return readNumber(row!, 'bytes');
  },

  async saveDraft(draft, over) {
    const added = newDraftStatement(draft);
    const rows =
      over === null
        ? await run(added.sql, added.values)
        : await run(
            `UPDATE drafts SET campaign = $3, revision = $4, based_on = $5, editor = $6, updated_at_ms = $7
             WHERE workspace_id = $1 AND campaign_id = $2 AND revision = $8 RETURNING revision`,
            [...toSqlValues(draft), over],
          );
    return rows.length === 1;
  },

  async reviewDraft({ workspaceId, campaignId, revision, review: before }, review) {
    const rows = await run(
      `UPDATE drafts SET review = $4 WHERE workspace_id = $1 AND campaign_id = $2 AND revision = $3
         AND coalesce(CAST(review AS text), '[]') = $5 RETURNING revision`,
      [workspaceId, campaignId, revision, JSON.stringify(review), JSON.stringify(before)],
    );
    return rows.length === 1;
  },

  async removeDraft(workspaceId, campaignId, revision) {
    const { sql, values } = removeDraftStatement(workspaceId, campaignId, revision);
    return (await run(sql, values)).length === 1;
  },
});
