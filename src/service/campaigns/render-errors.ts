import { createLogThrottle, type Log, serializeError } from '../log.ts';

/** What a template does wrong for one user, in words that quote nothing of theirs: they are logged. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

/** A property that cannot be filled in for one user; the cause says why, and may quote their data. */
export class RenderError extends Error {
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

export const isOverBudget = (error: unknown): error is RenderError =>
  error instanceof RenderError && error.cause instanceof OverBudgetError;

/** Why a campaign is not shown: a user's banner cost more than it may. */
export interface Suspension {
  variantId: string | null;
  error: RenderError;
}

/** Odd data of one user costs that user the banner. So many different users say that it is the campaign. */
const MAX_OVER = 10;

/** The last reason, and for whom: by their ID, the time of the profile that was read. */
interface OverBudget {
  why: Suspension;
  users: Map<string, number>;
}

/** A campaign is known by its variants: they are others once it has changed. */
interface Rendered {
  variants: readonly unknown[];
}

const over = new WeakMap<Rendered['variants'], OverBudget>();

/** A user as they are: what was too much for them may be less once their profile changes. */
export interface ProfileVersion {
  userId: string;
  profileMs: number;
}

/**
 * Remembers for whom a campaign cost too much: it is not tried again for this user, each time at the same cost. Returns whether it is
 * halted now: after several users nobody gets it, until it changes or the service starts again.
 */
export const recordOverBudget = (
  { variants }: Rendered,
  { userId, profileMs }: ProfileVersion,
  why: Suspension,
): boolean => {
  const users = over.get(variants)?.users ?? new Map<string, number>();
  users.set(userId, profileMs);
  over.set(variants, { why, users });
  return users.size >= MAX_OVER;
};

/** For how many users a campaign cost too much, and why; whether it is halted for all. `null` where it cost nobody too much. */
export const getSuspension = ({
  variants,
}: Rendered): (Suspension & { users: number; isForAll: boolean }) | null => {
  const found = over.get(variants);
  return found ? { ...found.why, users: found.users.size, isForAll: found.users.size >= MAX_OVER } : null;
};

/** Why a campaign is not even tried for a user; `null` where it is. */
export const findOverBudget = (
  { variants }: Rendered,
  { userId, profileMs }: ProfileVersion,
): Suspension | null => {
  const found = over.get(variants);
  if (!found) return null;
  return found.users.size >= MAX_OVER || found.users.get(userId) === profileMs ? found.why : null;
};

const factsOf = (error: unknown): Record<string, unknown> => {
  if (!(error instanceof RenderError)) return serializeError(error);
  const { property, cause } = error;
  if (cause instanceof TemplateError) return { property, why: cause.message };
  // The library's own errors quote what it was reading.
  return { property, error: cause instanceof Error ? cause.name : typeof cause };
};

export type LogRenderError = (
  banner: { workspace: string; campaign: string; variant: string | null },
  error: unknown,
  now: number,
  isHalted?: boolean,
) => void;

/** Logs which property keeps a banner from being shown, and why: once a minute for each. A campaign that is halted now is an error. */
export const createRenderErrorLog = (log: Log): LogRenderError => {
  const isDue = createLogThrottle();
  return (banner, error, now, isHalted = false) => {
    const facts: Record<string, unknown> = { ...banner, ...factsOf(error) };
    if (isHalted) {
      log.error(facts, 'campaign halted until it changes: nobody sees it');
      return;
    }
    const cause = JSON.stringify([banner.workspace, banner.campaign, banner.variant, facts['property']]);
    if (isDue(cause, now)) log.warn(facts, 'banner not shown: a property cannot be filled in');
  };
};
