import type { PlacementHook } from './placement-hook.ts';

/** A feature that a page imports and passes in `use`: a page without it does not load its code. */
export interface Addition {
  /** The visitors of the page, from `visitors()`. */
  readonly visitors?: () => Promise<unknown>;
  /** The placements that the page inserts by itself, from `selectors()`. */
  readonly selectors?: {
    readonly hooks: Readonly<Record<string, PlacementHook>>;
    readonly load: () => Promise<unknown>;
  };
}
