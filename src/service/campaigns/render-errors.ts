import { createLogThrottle, type Log, serializeError } from '../log.ts';

/** Template error for one user. The message never quotes user data, because it is logged. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

/** Property that cannot be rendered for one user. The cause may quote user data. */
export class RenderError extends Error {
  override readonly name = 'RenderError';
  readonly property: string;

  constructor(property: string, cause: unknown) {
    super(`The property '${property}' cannot be filled in`, { cause });
    this.property = property;
  }
}

/** The templates of a banner, or of a whole check, exceed their budget. */
export class OverBudgetError extends TemplateError {
  constructor() {
    super('It takes too long to write this text: use fewer or shorter loops, lists and repetitions');
  }
}

export const isOverBudget = (error: unknown): error is RenderError =>
  error instanceof RenderError && error.cause instanceof OverBudgetError;

/** Why a campaign is suspended: a user's banner exceeded its budget. */
export interface Suspension {
  variantId: string | null;
  error: RenderError;
}

/** Distinct users before a campaign is halted. Unusual data of one user affects only that user. */
const MAX_OVER = 10;

/** Last reason, and users by ID with the timestamp of their profile. */
interface OverBudget {
  why: Suspension;
  users: Map<string, number>;
}

/** Keyed by variants, which are replaced if the campaign changes. */
interface Rendered {
  variants: readonly unknown[];
}

const over = new WeakMap<Rendered['variants'], OverBudget>();

/** A profile at one point in time. A changed profile may fit the budget. */
export interface ProfileVersion {
  userId: string;
  profileMs: number;
}

/**
 * Records that a campaign exceeded its budget for a user, so that it is not tried again for this profile version. Returns whether
 * the campaign is halted now. After several users it is halted for everyone, until it changes or the service restarts.
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

/** Returns the number of users over budget, the last reason, and whether the campaign is halted. `null` if no user was. */
export const getSuspension = ({
  variants,
}: Rendered): (Suspension & { users: number; isForAll: boolean }) | null => {
  const found = over.get(variants);
  return found ? { ...found.why, users: found.users.size, isForAll: found.users.size >= MAX_OVER } : null;
};

/** Returns why a campaign is not tried for a user. `null` if it is. */
export const findOverBudget = (
  { variants }: Rendered,
  { userId, profileMs }: ProfileVersion,
): Suspension | null => {
  const found = over.get(variants);
  if (!found) return null;
  return found.users.size >= MAX_OVER || found.users.get(userId) === profileMs ? found.why : null;
};

const toLogFields = (error: unknown): Record<string, unknown> => {
  if (!(error instanceof RenderError)) return serializeError(error);
  const { property, cause } = error;
  if (cause instanceof TemplateError) return { property, why: cause.message };
  // The library's error messages quote user data.
  return { property, error: cause instanceof Error ? cause.name : typeof cause };
};

export type LogRenderError = (
  banner: { workspace: string; campaign: string; variant: string | null },
  error: unknown,
  now: number,
  isHalted?: boolean,
) => void;

/** Logs which property blocks a banner, and why, at most once a minute each. Logs a halted campaign as an error. */
export const createRenderErrorLog = (log: Log): LogRenderError => {
  const isDue = createLogThrottle();
  return (banner, error, now, isHalted = false) => {
    const facts: Record<string, unknown> = { ...banner, ...toLogFields(error) };
    if (isHalted) {
      log.error(facts, 'campaign halted until it changes');
      return;
    }
    const cause = JSON.stringify([banner.workspace, banner.campaign, banner.variant, facts['property']]);
    if (isDue(cause, now)) log.warn(facts, 'banner not shown: a property cannot be filled in');
  };
};
