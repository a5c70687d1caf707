import {
  type RunSql,
  readJson,
  readNumber,
  readText,
  type SqlRow,
  type SqlValue,
  type Statement,
} from './row-readers.ts';

/** A campaign that is being edited: one for each campaign, which all operators share. */
export interface Draft {
  workspaceId: string;
  campaignId: string;
  campaign: unknown;
  /** Another text with every save. */
  revision: string;
  /** The release that the edit began from; 0 where there was none. */
  basedOn: number;
  editor: string;
  updatedAtMs: number;
}

/** What an operator said of a draft before it is published. */
export interface ReviewEntry {
  operator: string;
  /** ISO 8601. */
  at: string;
  action: 'request' | 'comment' | 'approve' | 'send_back';
  note: string;
  /** Revision of the draft at that moment. */
  revision: string;
}

export interface StoredDraft extends Draft {
  /** Oldest first. */
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
  review JSON, -- NULL: nobody has asked for approval or commented
  PRIMARY KEY (workspace_id, campaign_id)
);
`;

/** Edits that are not published yet. */
export interface DraftStore {
  /** Every draft of the workspace. */
  drafts(workspaceId: string): Promise<StoredDraft[]>;
  /** The draft of one campaign; `null` where there is none. */
  draft(workspaceId: string, campaignId: string): Promise<StoredDraft | null>;
  /** Bytes that all drafts of a workspace have as JSON, but for the one of this campaign. */
  otherDraftBytes(workspaceId: string, campaignId: string): Promise<number>;
  /** Saves over the draft of revision `over`, `null` for none: false where the stored one is another. */
  saveDraft(draft: Draft, over: string | null): Promise<boolean>;
  /** Returns false if the draft was changed or reviewed since it was read. */
  reviewDraft(draft: StoredDraft, review: readonly ReviewEntry[]): Promise<boolean>;
  /** False where the stored draft is of another revision. */
  removeDraft(workspaceId: string, campaignId: string, revision: string): Promise<boolean>;
}

const draftOf = (row: SqlRow): StoredDraft => ({
  workspaceId: readText(row, 'workspace_id'),
  campaignId: readText(row, 'campaign_id'),
  campaign: readJson(row, 'campaign'),
  revision: readText(row, 'revision'),
  basedOn: readNumber(row, 'based_on'),
  editor: readText(row, 'editor'),
  updatedAtMs: readNumber(row, 'updated_at_ms'),
  review: (readJson(row, 'review') ?? []) as ReviewEntry[],
});

const valuesOf = (draft: Draft): SqlValue[] => {
  const { workspaceId, campaignId, campaign, revision, basedOn, editor, updatedAtMs } = draft;
  return [workspaceId, campaignId, JSON.stringify(campaign), revision, basedOn, editor, updatedAtMs];
};

/** Adds a draft if the campaign has none. */
export const newDraftStatement = (draft: Draft): Statement => ({
  sql: `INSERT INTO drafts (workspace_id, campaign_id, campaign, revision, based_on, editor, updated_at_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING revision`,
  values: valuesOf(draft),
});

/** Removes a draft if it is still at this revision. */
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
    return rows.map(draftOf);
  },

  async draft(workspaceId, campaignId) {
    const [row] = await run('SELECT * FROM drafts WHERE workspace_id = $1 AND campaign_id = $2', [
      workspaceId,
      campaignId,
    ]);
    return row ? draftOf(row) : null;
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
            [...valuesOf(draft), over],
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
