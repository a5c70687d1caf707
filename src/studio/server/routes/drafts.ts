import * as z from 'zod';
import { DRAFTS_TOO_LARGE, MAX_DRAFTS_BYTES } from '../../../protocol/index.ts';
import { createRevision, HttpError } from '../../../service/index.ts';
import { checkDraft, type DraftCheck } from '../check-draft.ts';
import { CustomResponse, del, post, put, type StudioContext } from '../route.ts';
import { toDraftResponse } from './campaigns.ts';
import { checkImages } from './images.ts';

const moment = z.iso.datetime({
  offset: true,
  error: ({ input }) =>
    `expected a date and time with its offset, such as 2026-03-01T09:00:00+01:00, got ${JSON.stringify(input)?.slice(0, 60)}`,
});

const draftBody = z.strictObject({
  /**
   * Draft content. Invalid drafts are stored, and the response contains their checks. Only a shape that the pages cannot render
   * is rejected, because it would break the campaign list for all operators.
   */
  campaign: z.looseObject({
    campaign_id: z.string().min(1).max(200),
    name: z.string().nullish(),
    starts_at: moment.nullish(),
    ends_at: moment.nullish(),
    placements: z.array(z.string()),
    variants: z.array(
      z.looseObject({ variant_id: z.string(), properties: z.record(z.string(), z.looseObject({})) }),
    ),
  }),
  based_on: z.int().nonnegative(),
});

export interface SavedDraft {
  revision: string;
  checks: DraftCheck[];
}

/** Body with any value as campaign, because the checks report invalid content. */
const checkBody = z.strictObject({ campaign: z.unknown() });

const placementsSchema = z.object({ placements: z.array(z.string()) });

/** Returns all checks of a draft, including its placements and images. An error blocks publishing. */
export const validateDraft = async (content: unknown, context: StudioContext): Promise<DraftCheck[]> => {
  const { workspace, missingSelectors, nowMs } = context;
  const { placements = [] } = placementsSchema.safeParse(content).data ?? {};
  const places = placements.flatMap((id, index): DraftCheck[] => {
    const placement = workspace.placements?.find(({ placementId }) => placementId === id);
    if (!placement || !missingSelectors.of(workspace.workspaceId, placement, nowMs)) return [];
    const message = `Pages report that the selector of “${placement.name}” matches nothing. See “Why”.`;
    return [{ severity: 'warning', path: ['placements', index], message }];
  });
  return [...(await checkImages(content, context)), ...checkDraft(content, workspace, nowMs), ...places];
};

export const saveDraft = put('/api/drafts/{campaignId}', 'edit', draftBody, async (context) => {
  const { workspace, studio, operator, params, body, ifMatch, nowMs } = context;
  const { campaign, based_on: basedOn } = body;
  const { workspaceId } = workspace;
  const campaignId = params['campaignId']!;
  if (campaign.campaign_id !== campaignId) {
    throw new HttpError(400, 'campaign_id differs between the body and the URL');
  }
  const bytes = Buffer.byteLength(JSON.stringify(campaign));
  if ((await studio.otherDraftBytes(workspaceId, campaignId)) + bytes > MAX_DRAFTS_BYTES) {
    throw new HttpError(413, DRAFTS_TOO_LARGE);
  }
  const draft = {
    workspaceId,
    campaignId,
    campaign,
    revision: createRevision(),
    basedOn,
    editor: operator.name,
    updatedAtMs: nowMs,
  };
  if (!(await studio.saveDraft(draft, ifMatch))) {
    const theirs = await studio.draft(workspaceId, campaignId);
    throw new HttpError(412, 'Draft was changed elsewhere', {
      members: { theirs: theirs && toDraftResponse(theirs) },
    });
  }
  const response: SavedDraft = { revision: draft.revision, checks: await validateDraft(campaign, context) };
  return new CustomResponse({ status: 200, body: response, headers: { ETag: `"${draft.revision}"` } });
});

export const removeDraft = del(
  '/api/drafts/{campaignId}',
  'edit',
  async ({ workspace, studio, params, ifMatch, audit }) => {
    const campaignId = params['campaignId']!;
    if (ifMatch === null) throw new HttpError(428, 'Set If-Match to the revision of the draft');
    if (!(await studio.removeDraft(workspace.workspaceId, campaignId, ifMatch))) {
      throw new HttpError(412, 'Draft was changed elsewhere');
    }
    await audit('draft.discard', campaignId);
  },
);

export const checkOnly = post('/api/validation', 'view', checkBody, async (context) => ({
  checks: await validateDraft(context.body.campaign, context),
}));
