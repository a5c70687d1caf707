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
  /** Link or button that was clicked, if the hook named it. */
  buttonId?: string;
}

/** Details of an event. */
export interface TrackOptions {
  /** Link or button that was clicked, at most 255 characters. Results count clicks by button. */
  buttonId?: string | undefined;
}
