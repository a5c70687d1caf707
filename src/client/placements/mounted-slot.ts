import type { Banner } from '../banner.ts';
import type { Notice } from '../notices.ts';
import type { PlacementHook } from '../placement-hook.ts';
import type { BannerCheck } from './banner-check.ts';

export type EmptyReason = Extract<Notice, { type: 'emptied' }>['reason'];

/** One element that shows a placement. */
export interface Mounted {
  placementId: string;
  element: HTMLElement;
  /** The banner in the slot; a control banner is here too, though nothing is drawn. */
  shown: Banner | null;
  /** Why nothing is drawn. */
  emptied?: EmptyReason | null;
  check: BannerCheck;
}

/** The same as `placements.ts` keeps it. */
export interface MountedSlot extends Mounted {
  hook: PlacementHook;
  /** Undoes the hook's drawing. */
  clear?: (() => void) | undefined;
  /** Gives back the room that is kept. */
  release?: (() => void) | undefined;
  /** Opens a slot that is closed because it is empty. */
  expand?: (() => void) | undefined;
  unwatch?: (() => void) | undefined;
  cancelExpiry?: () => void;
  wasConnected?: boolean;
}

/** What no cached banner waits for, so it is not loaded before the first paint. */
export interface SlotWatcher {
  /** True where someone may be looking at the slot. */
  isOnScreen(element: HTMLElement): boolean;
  /** True where a change of the slot's height moves nothing that is on screen. */
  canResize(element: HTMLElement): boolean;
  /** Takes the room of an empty slot away until the returned function is called. */
  collapse(element: HTMLElement): () => void;
  /** Watches one slot's visibility until the returned function is called. */
  watch?(mounted: Mounted): () => void;
  /** Whether the host lets the banner be shown there; `undefined` while it has not answered. */
  mayShow?(mounted: Mounted, banner: Banner): boolean | undefined;
  /** The slot has another banner. */
  onChange?(mounted: Mounted): void;
  /** A banner has left the page because it expired. */
  onExpired?(placementId: string): void;
}
