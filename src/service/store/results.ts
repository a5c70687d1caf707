/** What counts as a success of a campaign: an event or a purchase, within this time after the user's first impression. */
export type Conversion = ({ event: string } | { product: string }) & { withinMs: number };

/** Events, and users who had at least one. Test sends are in no count. */
export interface Counts {
  impressions: number;
  clicks: number;
  dismissals: number;
  /** Users with an impression. Of control banners: users who would have seen it. */
  exposed: number;
  clicked: number;
  dismissed: number;
}

/** Of one of the campaign's `conversions`, users counted once each. */
export interface Goal {
  converted: number;
  /** Of purchases: the sum of `price * quantity` within the time, and the sum of the squares of what each user spent. */
  revenue: number;
  revenueSquares: number;
}

/** One variant, or the control group, whose `variantId` is `null`. */
export interface ArmResults extends Counts {
  variantId: string | null;
  /** In the order of the conversions that were asked for. */
  goals: Goal[];
}

/** One variant on one day, by the event's own variant and the earlier of when it happened and when it was received. */
export interface DayResults extends Counts {
  /** For example `2026-03-01`, in the time zone that the workspace had when the event came. */
  day: string;
  variantId: string | null;
}

/** One variant in one placement. */
export interface PlacementResults extends Counts {
  placementId: string;
  variantId: string | null;
}

/** The counts of one campaign. */
export interface CampaignResults {
  /** Every exposed user is in one arm: the one of their first impression, with all that they did. */
  arms: ArmResults[];
  placements: PlacementResults[];
  /** In the order of the days. */
  days: DayResults[];
  /** Of the purchases in `goals`: of several currencies the revenue cannot be added up. */
  currencies: string[];
}

/** Which counts are asked for. */
export interface ResultsQuestion {
  campaignId: string;
  conversions: readonly Conversion[];
}
