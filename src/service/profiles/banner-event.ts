/** One banner event without its user. A repeat has the same user, banner, type and time, and is stored once. */
export interface NewBannerEvent {
  appId: string;
  bannerId: string;
  campaignId: string;
  /** `null` of a control banner. */
  variantId: string | null;
  placementId: string;
  isControl: boolean;
  /** Test sends are stored, and kept out of exports and counts. */
  isTestSend: boolean;
  /** The eligibility round of the banner: how often the user had dismissed the campaign before. */
  round: number;
  eventType: 'impression' | 'click' | 'dismiss';
  /** The instant as it was sent, which a wrong clock may put into the future. Unix milliseconds. */
  timeMs: number;
  receivedAtMs: number;
  /** The date of the earlier of the two in the workspace's time zone, such as `2026-03-01`. */
  day: string;
}

/** One row of `banner_events`, as an export reads it. */
export interface BannerEventRow extends Omit<NewBannerEvent, 'round'> {
  userId: number;
  externalId: string;
}
