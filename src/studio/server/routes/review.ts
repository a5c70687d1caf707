import * as z from 'zod';
import { includesRole } from '../../../protocol/index.ts';
import { HttpError } from '../../../service/index.ts';
import { iso, post, put, type ResponseOf } from '../route.ts';

const MAX_ENTRIES = 100;
/** Maximum attempts if operators comment concurrently. */
const MAX_TRIES = 5;
/** Presence timeout. Pages report their presence every 10 seconds. */
const PRESENT_MS = 30_000;

const reviewBody = z.strictObject({
  action: z.enum(['request', 'comment', 'approve', 'send_back']),
  note: z.string().max(2_000),
  /** Revision of the draft that the operator has seen. */
  revision: z.string().min(1),
});

/** Requests approval of a draft, comments on it, approves it, or requests changes. */
export const reviewDraft = post(
  '/api/drafts/{campaignId}/review',
  'edit',
  reviewBody,
  async ({ studio, workspace, operator, params, body, nowMs, audit }) => {
    const { action, note, revision } = body;
    const campaignId = params['campaignId']!;
    const isDecision = action === 'approve' || action === 'send_back';
    if (isDecision && !includesRole(operator.role, 'publish')) {
      throw new HttpError(403, `Requires role "publish" (you have "${operator.role}")`);
    }
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const draft = await studio.draft(workspace.workspaceId, campaignId);
      if (!draft) throw new HttpError(404, 'Draft not found');
      if (draft.revision !== revision) throw new HttpError(412, 'The draft was changed. Review it again');
      if (action === 'approve' && draft.editor === operator.name) {
        throw new HttpError(403, 'Another operator must approve your changes');
      }
      if (draft.review.length >= MAX_ENTRIES) {
        throw new HttpError(409, `Comment limit (${MAX_ENTRIES}) reached. Publish or discard the draft`);
      }
      const at = iso(nowMs);
      const review = [...draft.review, { operator: operator.name, at, action, note, revision }];
      if (await studio.reviewDraft(draft, review)) {
        await audit(`draft.${action}`, campaignId, note);
        return { review };
      }
    }
    throw new HttpError(409, 'Another review is being saved. Try again');
  },
);
export type ReviewResponse = ResponseOf<typeof reviewDraft>;

/** Records that the session has a campaign open. Returns the other operators who have. */
export const reportPresence = put(
  '/api/campaigns/{campaignId}/presence',
  'edit',
  async ({ studio, workspace, operator, sessionId, params, nowMs }) => {
    const campaignId = params['campaignId']!;
    await studio.openCampaign(sessionId, campaignId, nowMs);
    const present = await studio.operatorsIn(workspace.workspaceId, campaignId, nowMs - PRESENT_MS);
    return { operators: present.filter((name) => name !== operator.name) };
  },
);
export type PresenceResponse = ResponseOf<typeof reportPresence>;
