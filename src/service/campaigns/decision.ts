import type { Log } from '../log.ts';
import type { TargetingData } from '../store/store.ts';
import type { BannerIds } from './banner-id.ts';
import type { Campaign } from './campaign.ts';
import type { CampaignSet } from './campaign-set.ts';
import type { LogRenderError } from './render-errors.ts';
import type { Variant } from './variant.ts';

/** Reason that a user is not eligible, in the order of the checks. The first match applies. */
export type IneligibleReason = 'inactive' | 'outside_schedule' | 'not_in_audience' | 'dismissed';

/** Reason that the user is not eligible, or the eligibility round (number of earlier dismissals). */
export type Eligibility = IneligibleReason | number;

/** Cap that blocks a campaign for a user. `eligibleAgainAtMs` is `null` if the campaign is never shown again. */
export interface CapHit {
  limit: 'impressions' | 'stop_after.impressions' | 'stop_after.clicks' | 'stop_after.conversions' | 'tag';
  tag?: string;
  max: number;
  count: number;
  eligibleAgainAtMs: number | null;
}

/** Request for the banner of each placement for one user. */
export interface DecisionRequest {
  workspace: CampaignSet;
  externalUserId: string;
  user: TargetingData;
  appId: string;
  appVersion: string;
  deviceId: string | undefined;
  /** `Accept-Language` header, for users whose profile has no language; `''` if missing. */
  acceptLanguage: string;
  placementIds: readonly string[];
  /** Unix milliseconds. */
  now: number;
  ids: BannerIds;
  log: Log;
  logRenderError: LogRenderError;
  /** Receives the outcome of each campaign of each placement, in the order of evaluation. */
  trace?: (entry: TraceEntry) => void;
}

/** Outcome of one campaign in one placement. */
export type TraceEntry = { placementId: string; campaign: Campaign } & (
  | { outcome: IneligibleReason }
  | { outcome: 'frequency_capped'; cap: CapHit }
  /** The user is eligible, but another campaign with a higher rank has the placement. */
  | { outcome: 'outranked'; by: Campaign }
  | { outcome: 'render_failed'; variantId: string | null; error: unknown }
  /** The campaign has the placement but shows no banner, because the user is in its control group or in the global holdout. */
  | { outcome: 'held_out'; bannerId: string; byHoldout: boolean }
  | { outcome: 'shown'; bannerId: string; variant: Variant; isTestSend: boolean }
);
