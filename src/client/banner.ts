import type { BannerProperty } from '../protocol/index.ts';

/** One piece of content for a placement. Plain data: it can be cached, cloned and posted between tabs. */
export interface Banner {
  /** What a tracked event names; not the placement's ID. */
  id: string;
  placementId: string;
  /** A member of the control group: nothing is drawn, the impression still counts. */
  isControl: boolean;
  /** A test send is kept in memory only and left out of reports. */
  isTestSend: boolean;
  /** Unix milliseconds, `null` for never. */
  expiresAt: number | null;
  /** As the wire carries them. A property of an unknown type is kept raw; the getters answer `null` for it. */
  properties: Record<string, BannerProperty | { type: string; value: unknown }>;
}
