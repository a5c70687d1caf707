import type { Mounted } from './mounted-slot.ts';

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
  /** The slot has another banner. */
  onChange?(mounted: Mounted): void;
  /** A banner has left the page because it expired. */
  onExpired?(placementId: string): void;
}
