import { OverBudgetError } from './render-errors.ts';

/**
 * Maximum cost of one banner's templates. A unit is about 10 ns on a slow machine, so a banner costs a sync at most about 5 ms.
 * Counts steps and characters, not time, so that results do not depend on load. A typical banner takes a few hundred units; one
 * that prints an attribute of maximum size takes a fifth.
 */
const MAX_BANNER_UNITS = 500_000;

/** Maximum cost of all banners in one check. A draft may have many variants, and a workspace many personas. */
const MAX_CHECK_UNITS = 2_000_000;
/** Fixed cost of rendering one variant for one person. */
const LOOK_UNITS = 5_000;

/** Costs of rendering, in budget units. */
export const COST = {
  /** Each time a tag, an output or text is reached. */
  node: 50,
  /** Each name or value. */
  token: 20,
  /** Each filter call. */
  filter: 50,
  /** Each list entry or object member. */
  element: 10,
  /** Each character read or written. */
  letter: 1,
  /** Each date and each part of its format, because both use the platform's calendar. */
  date: 1_000,
} as const;

/** Adds up rendering costs. Throws an `OverBudgetError` if exceeded. */
export interface Budget {
  use(units: number): void;
  /** Whether it has thrown. The caught error may be a different one. */
  readonly isSpent: boolean;
}

/** Creates the budget of one banner. */
export const createBudget = (): Budget => {
  let left = MAX_BANNER_UNITS;
  return {
    use(cost) {
      // A template may pass a non-number. It costs nothing and has no effect.
      if (cost > 0) left -= cost;
      if (left < 0) throw new OverBudgetError();
    },
    get isSpent() {
      return left < 0;
    },
  };
};

/** Returns budgets for the banners of one check in turn. `null` once the total is used up. */
export const createCheckBudget = (): (() => Budget | null) => {
  let left = MAX_CHECK_UNITS;
  return () => {
    left -= LOOK_UNITS;
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
