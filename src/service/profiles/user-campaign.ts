/** State of a campaign for one user, as in `user_campaigns`. Excludes test sends. */
export interface UserCampaign {
  campaignId: string;
  /** Variant of the earliest impression; `null` before an impression and in the control group. */
  variantId: string | null;
  isControl: boolean;
  impressions: number;
  /** Unix milliseconds, at most the time of receipt; `null` before the first impression. */
  firstImpressionMs: number | null;
  lastImpressionMs: number | null;
  clicks: number;
  lastClickMs: number | null;
  dismissals: number;
  lastDismissalMs: number | null;
  /** Eligibility round (number of earlier dismissals). A dismissal starts the round after the round of the dismissed banner. */
  round: number;
}
