import { createLogThrottle, type Log, serializeError } from '../log.ts';

/** Template error for one user. The message never quotes user data, because it is logged. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

/** Error of a property that cannot be rendered for one user. Its cause may quote user data. */
export class RenderError extends Error {
  override readonly name = 'RenderError';
  readonly property: string;

  constructor(property: string, cause: unknown) {
    super(`The property '${property}' cannot be rendered`, { cause });
    this.property = property;
  }
}

/** Thrown if the templates of a banner, or of a whole check, exceed their budget. */
export class OverBudgetError extends TemplateError {
  constructor() {
    super('The text takes too long to render: use fewer or shorter loops, lists and repetitions');
  }
}

export const isOverBudget = (error: unknown): error is RenderError =>
  error instanceof RenderError && error.cause instanceof OverBudgetError;

/** Reason that a campaign is suspended, because a user's banner exceeded its budget. */
export interface Suspension {
  variantId: string | null;
  error: RenderError;
}

/** Number of distinct users over budget that halts a campaign. Unusual data of fewer users affects only these users. */
const MAX_OVER = 10;

/** Users over the budget: time of the profile that exceeded it, by user ID, and the last reason. */
interface OverBudget {
  suspension: Suspension;
  users: Map<string, number>;
}

/** Campaign, identified by its variants, because a changed campaign has new ones. */
interface Rendered {
  variants: readonly unknown[];
}

const overBudgetByVariants = new WeakMap<Rendered['variants'], OverBudget>();

/** Profile at one point in time. A changed profile may fit the budget. */
export interface ProfileVersion {
  userId: string;
  profileMs: number;
}

/**
 * Records that a campaign exceeded its budget for a user, so that it is not rendered again for this profile version. After
 * several users, the campaign is halted for all users, until it changes or the service restarts. Returns whether the campaign is
 * now halted.
 */
export const recordOverBudget = (
  { variants }: Rendered,
  { userId, profileMs }: ProfileVersion,
  suspension: Suspension,
): boolean => {
  const users = overBudgetByVariants.get(variants)?.users ?? new Map<string, number>();
  users.set(userId, profileMs);
  overBudgetByVariants.set(variants, { suspension, users });
  return users.size >= MAX_OVER;
};

/**
 * Returns the number of users over budget, the last reason, and whether the campaign is halted; `null` if no user was over
 * budget.
 */
export const getSuspension = ({
  variants,
}: Rendered): (Suspension & { users: number; isForAll: boolean }) | null => {
  const found = overBudgetByVariants.get(variants);
  return found
    ? { ...found.suspension, users: found.users.size, isForAll: found.users.size >= MAX_OVER }
    : null;
};

/** Returns the reason that a campaign is not rendered for a user; `null` if it may be rendered. */
export const findOverBudget = (
  { variants }: Rendered,
  { userId, profileMs }: ProfileVersion,
): Suspension | null => {
  const found = overBudgetByVariants.get(variants);
  if (!found) return null;
  return found.users.size >= MAX_OVER || found.users.get(userId) === profileMs ? found.suspension : null;
};

const toLogFields = (error: unknown): Record<string, unknown> => {
  if (!(error instanceof RenderError)) return serializeError(error);
  const { property, cause } = error;
  if (cause instanceof TemplateError) return { property, reason: cause.message };
  // The library's error messages quote user data.
  return { property, error: cause instanceof Error ? cause.name : typeof cause };
};

export type LogRenderError = (
  banner: { workspace: string; campaign: string; variant: string | null },
  error: unknown,
  now: number,
  isHalted?: boolean,
) => void;

/**
 * Creates a log of properties that block a banner, with their errors, at most once a minute per property. Logs a halted campaign
 * as an error.
 */
export const createRenderErrorLog = (log: Log): LogRenderError => {
  const shouldLog = createLogThrottle();
  return (banner, error, now, isHalted = false) => {
    const fields: Record<string, unknown> = { ...banner, ...toLogFields(error) };
    if (isHalted) {
      log.error(fields, 'campaign halted until it changes');
      return;
    }
    const cause = JSON.stringify([banner.workspace, banner.campaign, banner.variant, fields['property']]);
    if (shouldLog(cause, now)) log.warn(fields, 'banner not shown: a property cannot be rendered');
  };
};
