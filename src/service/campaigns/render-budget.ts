import { OverBudgetError } from './render-errors.ts';

/**
 * What the templates of one banner may cost. A unit is about ten nanoseconds of a slow machine, so that a banner costs a sync some
 * five milliseconds at the most. It counts steps and letters, not time: a busy machine shows what an idle one shows.
 * A sound banner needs some hundred units; one that prints an attribute of the largest size needs a fifth.
 */
const MAX_BANNER_UNITS = 500_000;

/** What all banners of one check may cost together: a draft may have many variants, a workspace many made-up people. */
const MAX_CHECK_UNITS = 2_000_000;
/** What a look at one variant for one person costs before a template is rendered. */
const LOOK_UNITS = 5_000;

/** What rendering costs, in units of a budget. */
export const COST = {
  /** A tag, an output or a piece of text that is reached once more. */
  node: 50,
  /** A name or a value in one. */
  token: 20,
  /** A filter that is applied. */
  filter: 50,
  /** An entry of a list, or a member of an object. */
  element: 10,
  /** A letter that is read or written. */
  letter: 1,
  /** A date that is written, and each part of its format: both ask the platform's calendar. */
  date: 1_000,
} as const;

/** Counts what rendering costs, and throws an `OverBudgetError` where it is too much. */
export interface Budget {
  use(units: number): void;
  /** Whether it has thrown: what is caught on the way may be another error. */
  readonly isSpent: boolean;
}

/** A budget of one banner. */
export const createBudget = (): Budget => {
  let left = MAX_BANNER_UNITS;
  return {
    use(cost) {
      // What is no number is what a template wrote in a number's place: it costs nothing, and does nothing.
      if (cost > 0) left -= cost;
      if (left < 0) throw new OverBudgetError();
    },
    get isSpent() {
      return left < 0;
    },
  };
};

/** Gives budgets for the banners of one check, one after the other; `null` once all that it may cost is used up. */
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
