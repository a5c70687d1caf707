import type { PlacementHook } from './placement-hook.ts';
import type { ProvideToken } from './user/token-source.ts';

/** Optional feature that a page imports and passes in `use`. Its code loads only on pages that import it. */
export interface Addition {
  /** Imports the code of anonymous visitors. Set by `visitors()`. */
  readonly visitors?: () => Promise<unknown>;
  /** Tokens of signed-in users. Set by `userTokens()`. */
  readonly userTokens?: {
    readonly provide: ProvideToken;
    /** Imports the code that requests and caches tokens. */
    readonly loadSource: () => Promise<unknown>;
  };
  /** Templates of placements by selector. Set by `selectors()`. */
  readonly selectors?: {
    /** Templates by name. */
    readonly hooks: Readonly<Record<string, PlacementHook>>;
    /** Imports the code that inserts the placements. */
    readonly load: () => Promise<unknown>;
  };
  /** Checks for changed campaigns. Set by `liveUpdates()`. */
  readonly liveUpdates?: {
    /** Imports the code of the checks. */
    readonly load: () => Promise<unknown>;
  };
}
