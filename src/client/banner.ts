import type { EventType } from '../protocol/index.ts';

export type { Banner } from '../protocol/index.ts';

export type { EventType };

/** An impression, a click or a dismissal of one banner, bound to the user it happened for. */
export interface BannerEvent {
  type: EventType;
  bannerId: string;
  placementId: string;
  userId: string;
  /** Unix milliseconds. No two events of one page that are alike otherwise have the same: the service counts them as one. */
  time: number;
}
