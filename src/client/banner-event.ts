import type { EventType } from '../protocol/index.ts';

export type { EventType };

/** An impression, a click or a dismissal of one banner, bound to the user it happened for. */
export interface BannerEvent {
  type: EventType;
  bannerId: string;
  placementId: string;
  userId: string;
  /**
   * Unix milliseconds. It is final when the event is sent: where two tabs captured the same thing at the same moment, one of
   * the two is a millisecond later then, since the service counts two events with one time as one.
   */
  time: number;
}
