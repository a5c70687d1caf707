import * as z from 'zod';
import { PREVIEW_PARAMETER } from '../../../protocol/index.ts';
import { createPreviewTokens, HttpError, previewVariant, readCampaign } from '../../../service/index.ts';
import { bodyOf } from '../body.ts';
import { personBody, personOf } from '../person.ts';
import type { StudioRoute } from '../route.ts';

const previewBody = z.strictObject({
  campaign: z.looseObject({}),
  variant_id: z.string(),
  person: personBody,
});

export interface PreviewAnswer {
  /** As a page gets them; `null` where one cannot be filled in for this person, or the draft has errors. */
  properties: Record<string, { type: string; value: unknown }> | null;
  /** Whether the audience holds them. */
  inAudience: boolean;
}

/** One variant of a draft as one person would read it. Nothing is stored, and nothing is counted. */
export const preview: StudioRoute = {
  method: 'POST',
  path: '/api/preview',
  role: 'view',
  answer: async (context) => {
    const { campaign: content, variant_id: variantId, person: who } = bodyOf(previewBody, context.body);
    const { externalId, user } = await personOf(who, context);
    const { campaign } = readCampaign(content, null);
    const none: PreviewAnswer = { properties: null, inAudience: false };
    if (!campaign) return { status: 200, body: none };
    const shown = previewVariant({
      workspace: context.workspace,
      campaign,
      variantId,
      externalId,
      profile: user.profile,
      nowMs: context.nowMs,
    });
    const body: PreviewAnswer = shown && 'properties' in shown ? shown : none;
    return { status: 200, body };
  },
};

const linkBody = z.strictObject({
  campaign_id: z.string().min(1),
  revision: z.string().min(1),
  variant_id: z.string().min(1),
  persona: z.string().nullable(),
  /** Where to look at it: a page of one of the workspace's sites. */
  page: z.string(),
});

export interface PreviewLinkAnswer {
  url: string;
  /** For so many minutes it works. */
  minutes: number;
}

/** Behind what the page has there: a router that keeps its route in the fragment reads a query in it. */
const withToken = (hash: string, token: string) => {
  const mark = hash === '' ? '' : /^#!?\//.test(hash) && !hash.includes('?') ? '?' : '&';
  return `${hash}${mark}${PREVIEW_PARAMETER}=${token}`;
};

/** A link to a page of the site that shows the draft there, for half an hour, to everybody who has the link. */
export const makePreviewLink: StudioRoute = {
  method: 'POST',
  path: '/api/preview-links',
  role: 'edit',
  answer: async ({ workspace, store, studio, body, nowMs, audit }) => {
    const {
      campaign_id: campaignId,
      revision,
      variant_id: variantId,
      persona,
      page,
    } = bodyOf(linkBody, body);
    if (!URL.canParse(page))
      throw new HttpError(400, 'The page needs a whole address, such as https://shop.example/');
    const url = new URL(page);
    if (!workspace.studio.sites.includes(url.origin)) {
      throw new HttpError(403, `${url.origin} is not among the sites of the workspace file`);
    }
    const draft = await studio.draft(workspace.workspaceId, campaignId);
    if (draft?.revision !== revision) throw new HttpError(412, 'The draft has changed since');
    const preview = { campaignId, revision, variantId, personaId: persona };
    const token = await createPreviewTokens(store).sign(workspace.workspaceId, preview, nowMs);
    url.hash = withToken(url.hash, token);
    await audit('make preview link', campaignId, url.origin);
    const answer: PreviewLinkAnswer = { url: url.href, minutes: 30 };
    return { status: 201, body: answer };
  },
};
