import type { EventType } from '../protocol/index.ts';

export type { Banner } from '../protocol/index.ts';

export type { EventType };

/** Impression, click or dismissal of a banner by a user. */
export interface BannerEvent {
  type: EventType;
  bannerId: string;
  placementId: string;
  userId: string;
  /**
   * Unix milliseconds. Unique among events of a page with the same user, banner and type, because the service deduplicates by
   * these four properties.
   */
  time: number;
}
