import type { EventCounts, LastTimes } from './measures.ts';

/** State of a campaign for one user, as in `user_campaigns`. Excludes test sends. */
export interface UserCampaign extends EventCounts, LastTimes {
  campaignId: string;
  /** Variant of the earliest impression; `null` before an impression and in the control group. */
  variantId: string | null;
  isControl: boolean;
  /** Unix milliseconds, at most the time of receipt; `null` before the first impression. */
  firstImpressionMs: number | null;
  /** Eligibility round (number of earlier dismissals). A dismissal starts the round after the round of the dismissed banner. */
  round: number;
}
