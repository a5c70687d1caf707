import { DAY_MS } from '../../protocol/index.ts';
import { getErrorMessage } from '../log.ts';
import { createProfile, type Profile } from '../profiles/profile.ts';
import { STANDARD_NAMES } from '../users/check-standard.ts';
import type { Persona } from '../workspace/studio-settings.ts';
import type { Campaign } from './campaign.ts';
import type { CampaignSet } from './campaign-set.ts';
import { getLanguages, languageFor, localizeProperties } from './languages.ts';
import type { Budget } from './render-budget.ts';
import { RenderError } from './render-errors.ts';
import { personaliseContext } from './variables.ts';

interface Done {
  count?: number | undefined;
  last_days_ago?: number | undefined;
}

const toStats = ({ count = 1, last_days_ago = 0 }: Done, nowMs: number) => {
  const last = nowMs - last_days_ago * DAY_MS;
  return { count, first: last, last };
};

/** Returns the profile of a real user with the persona's attributes and events. */
export const personaProfile = (persona: Persona, nowMs: number): Profile => {
  const { email, phone, ...attributes } = persona.attributes ?? {};
  const isStandard = ([name]: [string, unknown]) => STANDARD_NAMES.includes(name);
  const entries = Object.entries(attributes);
  return createProfile({
    userId: 0,
    externalId: 'persona',
    email: typeof email === 'string' ? email : null,
    phone: typeof phone === 'string' ? phone : null,
    standard: Object.fromEntries(entries.filter(isStandard)),
    custom: Object.fromEntries(entries.filter((entry) => !isStandard(entry))),
    subscriptionGroups: Object.fromEntries(
      Object.entries(persona.subscription_groups ?? {}).map(([id, state]) => [id.toLowerCase(), { state }]),
    ),
    events: Object.fromEntries((persona.events ?? []).map((done) => [done.name, toStats(done, nowMs)])),
    purchases: Object.fromEntries(
      (persona.purchases ?? []).map((done) => [
        done.product_id,
        { ...toStats(done, nowMs), revenue: done.revenue ?? 0 },
      ]),
    ),
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  });
};

export interface PreviewQuestion {
  workspace: CampaignSet;
  campaign: Campaign;
  variantId: string;
  externalId: string;
  profile: Readonly<Profile> | null;
  nowMs: number;
  /** Language of the preview. Default: the language that `decide` would select for the user. */
  language?: string | undefined;
  /** Rendering budget. Default: the budget of one banner. */
  budget?: Budget;
}

/** Variant rendered for a user, or the property that cannot be rendered, with the reason. */
export type Previewed =
  | {
      properties: Record<string, { type: string; value: unknown }>;
      inAudience: boolean;
      language: string | null;
    }
  | { failedProperty: string; reason: string };

/** Renders a variant for a user, regardless of the campaign's status, schedule and audience. */
export const previewVariant = (question: PreviewQuestion): Previewed | null => {
  const { workspace, campaign, variantId, externalId, profile, nowMs, budget } = question;
  const variant = campaign.variants.find((each) => each.variantId === variantId);
  if (!variant) return null;
  const context = () => personaliseContext(externalId, profile, undefined, workspace.appPlatforms);
  const [appId = ''] = workspace.appIds;
  const membership = campaign.audience?.membership({
    externalId,
    profile,
    campaigns: () => ({}),
    appId,
    appVersion: '',
    nowMs,
  });
  try {
    const wanted = question.language ?? profile?.standard['language'];
    const language = languageFor(campaign, variant, getLanguages(wanted, ''));
    const properties = JSON.parse(localizeProperties(variant, language)(context, budget));
    return { properties, language, inAudience: (membership ?? 'in') === 'in' };
  } catch (error) {
    if (!(error instanceof RenderError)) throw error;
    const { property, cause } = error;
    return { failedProperty: property, reason: getErrorMessage(cause) };
  }
};
