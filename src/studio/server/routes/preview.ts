import * as z from 'zod';
import { previewVariant, readCampaign } from '../../../service/index.ts';
import { bodyOf } from '../body-of.ts';
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
