import type { LimitName } from '../route.ts';
import type { RateRule } from '../store/store.ts';
import type { WorkspaceFile } from './file-schema.ts';
import type { RateLimit } from './workspace.ts';

/** Requests of one user, where the file says nothing: a page that runs wild harms itself alone. */
export const USER_DEFAULT: RateRule = { requests: 60, windowSeconds: 60 };

/**
 * Requests of a whole workspace, where the file says nothing: the published base rates. The banner endpoints have none:
 * how often pages are viewed differs a thousandfold between sites.
 */
export const WORKSPACE_DEFAULTS: Record<LimitName, RateRule[]> = {
  users_track: [{ requests: 3_000, windowSeconds: 3 }],
  users_track_bulk: [{ requests: 50, windowSeconds: 1 }],
  banners_sync: [],
  banners_track: [],
  visitors: [{ requests: 6_000, windowSeconds: 60 }],
  new_users: [{ requests: 6_000, windowSeconds: 60 }],
  cdi_integrations: [{ requests: 50, windowSeconds: 60 }],
  users_other: [{ requests: 20_000, windowSeconds: 60 }],
  users_export_ids: [{ requests: 250, windowSeconds: 60 }],
};

type LimitFile = NonNullable<NonNullable<WorkspaceFile['limits']>[LimitName]>;
type RuleFile = { requests: number; window_seconds: number };

const ruleOf = ({ requests, window_seconds }: RuleFile): RateRule => ({
  requests,
  windowSeconds: window_seconds,
});

const rulesOf = (limit: LimitFile | undefined): RateRule[] | undefined => {
  if (limit?.windows) return limit.windows.map(ruleOf);
  const { requests, window_seconds } = limit ?? {};
  return requests === undefined || window_seconds === undefined
    ? undefined
    : [ruleOf({ requests, window_seconds })];
};

/**
 * Longest window first: the headers of an answer have its state. The shortest one of `users_track` is the burst,
 * which all workspaces that name the same company share.
 */
const limitsOf = (file: WorkspaceFile, name: LimitName): RateLimit[] => {
  const rules = (rulesOf(file.limits?.[name]) ?? WORKSPACE_DEFAULTS[name]).toSorted(
    (one, other) => other.windowSeconds - one.windowSeconds,
  );
  return rules.map((rule, index) => {
    const isSharedBurst =
      name === 'users_track' && file.company_id !== undefined && index === rules.length - 1;
    const owner = isSharedBurst ? `company:${file.company_id}` : `workspace:${file.workspace_id}`;
    return { key: `${owner}:${name}:${rule.windowSeconds}`, rule };
  });
};

/** The window of one user, on the endpoints that have one. */
export const userLimitsOf = ({ limits }: WorkspaceFile): Partial<Record<LimitName, RateRule>> => {
  const userRule = (limit: { per_user?: RuleFile | undefined } | undefined): RateRule =>
    limit?.per_user ? ruleOf(limit.per_user) : USER_DEFAULT;
  return {
    banners_sync: userRule(limits?.banners_sync),
    banners_track: userRule(limits?.banners_track),
  };
};

export const rateLimitsOf = (file: WorkspaceFile): Record<LimitName, RateLimit[]> => {
  const names = Object.keys(WORKSPACE_DEFAULTS) as LimitName[];
  return Object.fromEntries(names.map((name) => [name, limitsOf(file, name)])) as Record<
    LimitName,
    RateLimit[]
  >;
};

/** Banner requests of a whole workspace, a second: with less, a handful of visitors uses it up. */
const LOW_WORKSPACE = 20;
/** Banner requests of one user, a minute: a page makes one sync a view, and sends events every few seconds. */
const LOW_USER = 10;

/** Limits of the banner endpoints that are too low to be meant. */
export const lowLimits = (file: WorkspaceFile): string[] =>
  (['banners_sync', 'banners_track'] as const).flatMap((name) => {
    const limit = file.limits?.[name];
    const low = (rulesOf(limit) ?? []).find(
      ({ requests, windowSeconds }) => requests / windowSeconds < LOW_WORKSPACE,
    );
    const user = userLimitsOf(file)[name]!;
    return [
      ...(low
        ? [
            `limits.${name}: ${low.requests} requests in ${low.windowSeconds} seconds are for all users of the workspace together; write "per_user" to limit each user`,
          ]
        : []),
      ...((user.requests * 60) / user.windowSeconds < LOW_USER
        ? [
            `limits.${name}.per_user: ${user.requests} requests in ${user.windowSeconds} seconds refuse a user who reads a few pages`,
          ]
        : []),
    ];
  });
