import type { Banner } from './banner.ts';

/** What a placement hook may do with the banner it draws. */
export interface Slot {
  /** The element the host mounted; the hook draws inside it and nowhere else. */
  element: HTMLElement;
  placementId: string;
  /** Logs a click. Resolves when it is durable; safe to call just before a navigation. */
  click(): Promise<void>;
  /** Hides the banner at once, here and in the other tabs, and logs one dismissal. */
  dismiss(): Promise<void>;
  /** The URL if its scheme is allowed (https, http, mailto, tel and relative links; https and http images), else `null`. */
  safeUrl(url: unknown, use: 'link' | 'image'): string | null;
  /** Aborted when the banner leaves; for listeners and requests the hook starts. */
  signal: AbortSignal;
}

/** Host function that draws a banner and may return its cleanup. */
// biome-ignore lint/suspicious/noConfusingVoidType: a hook without a return statement is the common case
export type PlacementHook = (banner: Banner, slot: Slot) => void | (() => void);
