import { OverBudgetError } from './render-errors.ts';

/**
 * Maximum cost of one banner's templates. A unit is at most about 30 ns, so a banner adds at most about 15 ms to a sync.
 * Costs derive from steps and characters, not time, so that results do not depend on load. A typical banner costs a few hundred
 * units. A banner that prints an attribute of maximum size costs a fifth of the budget.
 */
const MAX_BANNER_UNITS = 500_000;

/** Maximum total cost of the banners in one check. A draft may have many variants, and a workspace many personas. */
const MAX_CHECK_UNITS = 2_000_000;
/** Fixed cost of rendering one variant for one persona. */
const RENDER_UNITS = 5_000;

/** Costs of rendering, in budget units. */
export const COST = {
  /** Cost of reaching a tag, an output or text. */
  node: 150,
  /** Cost of a name or value. */
  token: 20,
  /** Cost of a filter call. */
  filter: 50,
  /** Cost of a list entry or object member. */
  element: 10,
  /** Cost of a character read or written. */
  character: 1,
  /** Cost of a date, and of each part of its format, because both use the platform's calendar. */
  date: 1_000,
} as const;

/** Sum of rendering costs. Throws an `OverBudgetError` if it exceeds the maximum. */
export interface Budget {
  use(units: number): void;
  /** Whether the budget was exceeded. The caught error may be a different error. */
  readonly isSpent: boolean;
}

/** Creates the budget of one banner. */
export const createBudget = (): Budget => {
  let left = MAX_BANNER_UNITS;
  return {
    use(cost) {
      // Ignores a non-number, which a template may pass.
      if (cost > 0) left -= cost;
      if (left < 0) throw new OverBudgetError();
    },
    get isSpent() {
      return left < 0;
    },
  };
};

/** Returns a function that returns a budget for each banner of a check; `null` once the total is used up. */
export const createCheckBudget = (): (() => Budget | null) => {
  let left = MAX_CHECK_UNITS;
  return () => {
    left -= RENDER_UNITS;
    if (left < 0) return null;
    const budget = createBudget();
    return {
      use(cost) {
        if (cost > 0) left -= cost;
        budget.use(cost);
      },
      get isSpent() {
        return budget.isSpent;
      },
    };
  };
};
