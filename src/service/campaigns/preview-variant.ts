import type { Profile } from '../profiles/profile.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { audienceOf } from './audience-of.ts';
import type { Campaign } from './campaign.ts';
import { personaliseContext } from './personalise-context.ts';
import { UnfilledError } from './unfilled.ts';

export interface PreviewQuestion {
  workspace: Workspace;
  campaign: Campaign;
  variantId: string;
  externalId: string;
  profile: Readonly<Profile> | null;
  nowMs: number;
}

/** A variant as one user would read it; or which property cannot be filled in for them, and why. */
export type Previewed =
  | { properties: Record<string, { type: string; value: unknown }>; inAudience: boolean }
  | { unfilled: string; why: string };

/** Draws a variant for a user whatever the campaign's status, time and audience say. */
export const previewVariant = (question: PreviewQuestion): Previewed | null => {
  const { workspace, campaign, variantId, externalId, profile, nowMs } = question;
  const variant = campaign.variants.find((each) => each.variantId === variantId);
  if (!variant) return null;
  const context = () => personaliseContext(externalId, profile, undefined, workspace.appPlatforms);
  const [appId = ''] = workspace.appIds;
  const member = audienceOf({ externalId, profile, appId, appVersion: '' }, nowMs);
  try {
    const properties = JSON.parse(variant.properties(context));
    return { properties, inAudience: campaign.audience?.matches(member) ?? true };
  } catch (error) {
    if (!(error instanceof UnfilledError)) throw error;
    const { property, cause } = error;
    return { unfilled: property, why: cause instanceof Error ? cause.message : String(cause) };
  }
};
