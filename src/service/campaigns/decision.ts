import type { Log } from '../log.ts';
import type { TargetingData } from '../store/store.ts';
import type { BannerIds } from './banner-id.ts';
import type { Campaign } from './campaign.ts';
import type { CampaignSet } from './campaign-set.ts';
import type { LogRenderError } from './render-errors.ts';
import type { Variant } from './variant.ts';

/** Reasons why a campaign is not for a user, in the order in which they are checked. The first that holds counts. */
export type IneligibleReason = 'inactive' | 'outside_schedule' | 'not_in_audience' | 'dismissed';

/** The reason against it, or the eligibility round: 0, and one more for each dismissal. */
export type Eligibility = IneligibleReason | number;

/** A limit that keeps a campaign from a user. `againMs` is `null` where it is never shown again. */
export interface CapHit {
  limit: 'impressions' | 'stop_after.impressions' | 'stop_after.clicks' | 'stop_after.conversions' | 'tag';
  tag?: string;
  max: number;
  count: number;
  eligibleAgainAtMs: number | null;
}

/** Which banner has each placement for this user, at this moment? */
export interface DecisionRequest {
  workspace: CampaignSet;
  externalUserId: string;
  user: TargetingData;
  appId: string;
  appVersion: string;
  deviceId: string | undefined;
  /** The header `Accept-Language` of the request, for users whose profile names no language; `''` where there is none. */
  acceptLanguage: string;
  placementIds: readonly string[];
  /** Unix milliseconds. */
  now: number;
  ids: BannerIds;
  log: Log;
  logRenderError: LogRenderError;
  /** Called once for each campaign of each placement, in the order in which they are considered. */
  trace?: (step: Step) => void;
}

/** The outcome of one campaign in one placement. */
export type Step = { placementId: string; campaign: Campaign } & (
  | { outcome: IneligibleReason }
  | { outcome: 'frequency_capped'; cap: CapHit }
  /** The user could get it, but a campaign before it has the placement. */
  | { outcome: 'outranked'; by: Campaign }
  | { outcome: 'render_failed'; variantId: string | null; error: unknown }
  /** It has the placement, and shows nothing there: the user is in its control group, or held out of all campaigns. */
  | { outcome: 'held_out'; bannerId: string; byHoldout: boolean }
  | { outcome: 'shown'; bannerId: string; variant: Variant; isTestSend: boolean }
);
