import { createOnceAMinute, errorFacts, type Log } from '../log.ts';
import type { Campaign } from './campaign.ts';

/** What a template does wrong for one user, in words that quote nothing of theirs: they are logged. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

/** A property that cannot be filled in for one user; the cause says why, and may quote their data. */
export class UnfilledError extends Error {
  override readonly name = 'UnfilledError';
  readonly property: string;

  constructor(property: string, cause: unknown) {
    super(`The property '${property}' cannot be filled in`, { cause });
    this.property = property;
  }
}

/** The templates of a banner, or of a whole check, cost more than they may. */
export class OverBudgetError extends TemplateError {
  constructor() {
    super('It takes too long to write this text: use fewer or shorter loops, lists and repetitions');
  }
}

export const isOverBudget = (error: unknown): error is UnfilledError =>
  error instanceof UnfilledError && error.cause instanceof OverBudgetError;

/** Why a campaign is shown to nobody: one user's banner cost more than it may. */
export interface Halted {
  variantId: string | null;
  error: UnfilledError;
}

/** By the variants: they are others once the campaign has changed. */
const halted = new WeakMap<Campaign['variants'], Halted>();

/** Shows a campaign to nobody any more, until it changes or the service starts again: each try would cost as much as this one. */
export const halt = ({ variants }: Campaign, why: Halted): void => void halted.set(variants, why);

export const haltedBy = ({ variants }: Campaign): Halted | null => halted.get(variants) ?? null;

const factsOf = (error: unknown): Record<string, unknown> => {
  if (!(error instanceof UnfilledError)) return errorFacts(error);
  const { property, cause } = error;
  if (cause instanceof TemplateError) return { property, why: cause.message };
  // The library's own errors quote what it was reading.
  return { property, error: cause instanceof Error ? cause.name : typeof cause };
};

export type LogUnfilled = (
  banner: { workspace: string; campaign: string; variant: string | null },
  error: unknown,
  now: number,
) => void;

/** Logs which property keeps a banner from being shown, and why: once a minute for each. A halted campaign is logged once. */
export const createUnfilledLog = (log: Log): LogUnfilled => {
  const isDue = createOnceAMinute();
  return (banner, error, now) => {
    const facts: Record<string, unknown> = { ...banner, ...factsOf(error) };
    if (isOverBudget(error)) {
      log.error(facts, 'campaign halted until it changes: nobody sees it');
      return;
    }
    const cause = JSON.stringify([banner.workspace, banner.campaign, banner.variant, facts['property']]);
    if (isDue(cause, now)) log.warn(facts, 'banner not shown: a property cannot be filled in');
  };
};
