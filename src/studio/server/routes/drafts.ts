import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { HttpError } from '../../../service/index.ts';
import { bodyOf } from '../body-of.ts';
import { checkDraft } from '../check-draft.ts';
import type { DraftCheck } from '../draft-check.ts';
import type { StudioRoute } from '../route.ts';

/** Drafts of one workspace together: the list of campaigns has them all. An ordinary one has 2 to 5 KB. */
const MAX_DRAFTS_BYTES = 2 * 1024 * 1024;

const draftBody = z.strictObject({
  /** Half-done work is kept as it is; what is wrong with it is answered, not refused. */
  campaign: z.looseObject({ campaign_id: z.string().min(1).max(200) }),
  based_on: z.int().nonnegative(),
});

export interface SavedDraft {
  revision: string;
  checks: DraftCheck[];
}

const revisionName = () => randomBytes(9).toString('base64url');

export const saveDraft: StudioRoute = {
  method: 'PUT',
  path: '/api/drafts/:campaignId',
  role: 'edit',
  answer: async ({ workspace, studio, operator, params, body, ifMatch, nowMs }) => {
    const { campaign, based_on: basedOn } = bodyOf(draftBody, body);
    const { workspaceId } = workspace;
    const campaignId = params['campaignId']!;
    if (campaign.campaign_id !== campaignId) {
      throw new HttpError(400, 'The campaign in the body has another campaign_id than the address');
    }
    const bytes = Buffer.byteLength(JSON.stringify(campaign));
    if ((await studio.otherDraftBytes(workspaceId, campaignId)) + bytes > MAX_DRAFTS_BYTES) {
      throw new HttpError(413, 'The drafts of this workspace have more than 2 MB: publish or discard some');
    }
    const draft = {
      workspaceId,
      campaignId,
      campaign,
      revision: revisionName(),
      basedOn,
      editor: operator.name,
      updatedAtMs: nowMs,
    };
    if (!(await studio.saveDraft(draft, ifMatch))) {
      const theirs = await studio.draft(workspaceId, campaignId);
      throw new HttpError(412, 'Somebody else has changed this draft', {
        members: {
          theirs: theirs && {
            campaign: theirs.campaign,
            revision: theirs.revision,
            basedOn: theirs.basedOn,
            editor: theirs.editor,
            at: new Date(theirs.updatedAtMs).toISOString(),
          },
        },
      });
    }
    const answer: SavedDraft = { revision: draft.revision, checks: checkDraft(campaign, workspace, nowMs) };
    return { status: 200, body: answer, headers: { ETag: `"${draft.revision}"` } };
  },
};

export const removeDraft: StudioRoute = {
  method: 'DELETE',
  path: '/api/drafts/:campaignId',
  role: 'edit',
  answer: async ({ workspace, studio, params, ifMatch, audit }) => {
    const campaignId = params['campaignId']!;
    if (ifMatch === null) throw new HttpError(428, 'Say in If-Match which revision is meant');
    if (!(await studio.removeDraft(workspace.workspaceId, campaignId, ifMatch))) {
      throw new HttpError(412, 'Somebody else has changed this draft');
    }
    await audit('discard draft', campaignId);
    return { status: 204 };
  },
};

export const checkOnly: StudioRoute = {
  method: 'POST',
  path: '/api/checks',
  role: 'view',
  answer: ({ workspace, body, nowMs }) => ({
    status: 200,
    body: { checks: checkDraft((body as { campaign?: unknown } | undefined)?.campaign, workspace, nowMs) },
  }),
};
