import type { EventType } from '../protocol/index.ts';

export type { EventType };

/** An impression, a click or a dismissal of one banner, bound to the user it happened for. */
export interface BannerEvent {
  type: EventType;
  bannerId: string;
  placementId: string;
  userId: string;
  /** Unix milliseconds; unique for its banner, type and user within one browser profile. */
  time: number;
}
