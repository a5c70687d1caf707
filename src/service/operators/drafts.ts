import { randomBytes } from 'node:crypto';
import { type RunSql, readNumber, type Statement } from '../sql/row-readers.ts';
import { bigint, converted, defineTable, json, orNull, type RowOf, text } from '../sql/table.ts';
import { createInsert } from '../sql/writes.ts';

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

export const DRAFTS = defineTable(
  'drafts',
  {
    workspaceId: text('workspace_id'),
    campaignId: text('campaign_id'),
    campaign: json('campaign'),
    /** Revision, which changes with every save. */
    revision: text('revision'),
    /** Release on which the draft is based; 0 if none. */
    basedOn: bigint('based_on'),
    editor: text('editor'),
    updatedAtMs: bigint('updated_at_ms'),
    /** Reviews, oldest first. */
    review: converted(
      orNull(json<readonly ReviewEntry[]>('review')),
      (review) => review ?? [],
      (review) => (review.length === 0 ? null : review),
    ),
  },
  { key: 'workspace_id, campaign_id', hasLargeRows: true },
);

export type StoredDraft = RowOf<typeof DRAFTS>;

/** Draft of a campaign. All operators share one draft per campaign. */
export type Draft = Omit<StoredDraft, 'review'>;

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

const addDraft = createInsert(DRAFTS, ' ON CONFLICT DO NOTHING RETURNING revision');

/** Returns a statement that adds a draft if the campaign has none. */
export const newDraftStatement = (draft: Draft): Statement => addDraft({ ...draft, review: [] });

const replaceDraftStatement = (draft: Draft, over: string): Statement => {
  const { workspaceId, campaignId, campaign, revision, basedOn, editor, updatedAtMs } = draft;
  return {
    sql: `UPDATE drafts SET campaign = $4, revision = $5, based_on = $6, editor = $7, updated_at_ms = $8
      WHERE workspace_id = $1 AND campaign_id = $2 AND revision = $3 RETURNING revision`,
    values: [workspaceId, campaignId, over, JSON.stringify(campaign), revision, basedOn, editor, updatedAtMs],
  };
};

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
    return rows.map(DRAFTS.read);
  },

  async draft(workspaceId, campaignId) {
    const [row] = await run('SELECT * FROM drafts WHERE workspace_id = $1 AND campaign_id = $2', [
      workspaceId,
      campaignId,
    ]);
    return row ? DRAFTS.read(row) : null;
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
    const { sql, values } = over === null ? newDraftStatement(draft) : replaceDraftStatement(draft, over);
    return (await run(sql, values)).length === 1;
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
