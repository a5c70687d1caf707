import type { Mounted } from './mounted-slot.ts';

/** What no cached banner waits for, so it is not loaded before the first paint. */
export interface SlotWatcher {
  /** True where a change of height of a slot that is not on screen moves nothing that is. */
  canResize(element: HTMLElement, isPageVisible: () => boolean): boolean;
  /** Takes the room of an empty slot away until the returned function is called. */
  collapse(element: HTMLElement): () => void;
  /** Watches one slot's visibility until the returned function is called. */
  watch?(mounted: Mounted): () => void;
  /** The slot has another banner. */
  onChange?(mounted: Mounted): void;
}
