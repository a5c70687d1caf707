import * as z from 'zod';
import type { LimitName } from '../gate/route.ts';
import type { RateRule } from '../store/store.ts';
import type { WorkspaceFile } from './file-schema.ts';
import { optional } from './members.ts';
import type { RateLimit } from './workspace.ts';

const rule = {
  requests: z.int().positive().describe('How many requests one window takes'),
  window_seconds: z.int().positive().describe('How long a window is, in seconds'),
};

/** Requests are counted by the length of a window: two of one length would share a count. */
const windows = z
  .array(z.strictObject(rule))
  .min(1)
  .superRefine((all, context) => {
    const lengths = all.map(({ window_seconds }) => window_seconds);
    for (const [index, length] of lengths.entries()) {
      if (lengths.indexOf(length) === index) continue;
      context.addIssue({
        code: 'custom',
        path: [index, 'window_seconds'],
        message: `expected it once, got ${length} again`,
      });
    }
  });

const limitShape = {
  requests: optional(rule.requests).describe(rule.requests.description!),
  window_seconds: optional(rule.window_seconds).describe(rule.window_seconds.description!),
  windows: optional(windows).describe('Several windows, in place of `requests` and `window_seconds`'),
};

/** One window, or several under `windows`; neither where the limit has only what goes beside them. */
const oneOrSeveral = (
  { requests, window_seconds, windows: several, ...beside }: Record<string, unknown>,
  context: { addIssue(issue: { code: 'custom'; path: PropertyKey[]; message: string }): void },
) => {
  const hasPart = requests !== undefined || window_seconds !== undefined;
  const hasWhole = requests !== undefined && window_seconds !== undefined;
  const hasBeside = Object.values(beside).some((value) => value !== undefined);
  if (hasPart ? hasWhole && several === undefined : several !== undefined || hasBeside) return;
  context.addIssue({
    code: 'custom',
    path: [],
    message: "expected either 'requests' and 'window_seconds', or 'windows'",
  });
};

const limit = z.strictObject(limitShape).superRefine(oneOrSeveral);
const bannersLimit = z
  .strictObject({
    ...limitShape,
    per_user: optional(z.strictObject(rule)).describe('The window of each user'),
  })
  .superRefine(oneOrSeveral);
const usersTrackLimit = z
  .strictObject({
    ...limitShape,
    objects: optional(z.enum(['combined', 'per_array'])).describe(
      'Whether the 75 objects of a request are counted over all arrays (`combined`, the default) or in each (`per_array`)',
    ),
  })
  .superRefine(oneOrSeveral);

/** How many requests each endpoint takes. */
export const limits = z.strictObject({
  users_track: optional(usersTrackLimit).describe('`/users/track`; default 3,000 in 3 seconds'),
  users_track_bulk: optional(limit).describe('`/users/track/bulk`; default 50 in 1 second'),
  users_other: optional(limit).describe(
    '`/users/identify`, `/users/merge`, `/users/alias/new`, `/users/delete` and `/placard/explain` together; default 20,000 in 60 seconds',
  ),
  users_export_ids: optional(limit).describe('`/users/export/ids`; default 250 in 60 seconds'),
  banners_sync: optional(bannersLimit).describe(
    '`banners/sync`; default 60 in 60 seconds for each user, and no limit for all users together',
  ),
  banners_track: optional(bannersLimit).describe(
    '`banners/track`; default 60 in 60 seconds for each user, and no limit for all users together',
  ),
  visitors: optional(limit).describe(
    '`banners/track` of all visitors without an account together, whom anybody can make up; default 6,000 in 60 seconds',
  ),
  new_users: optional(limit).describe(
    'Users of all apps together whom `banners/track` meets first: each gets a row, and anybody can make them up; default 6,000 in 60 seconds',
  ),
  cdi_integrations: optional(limit).describe('`/cdi/integrations`; default 50 in 60 seconds'),
});

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

export const rateLimitsOf = (file: WorkspaceFile): Record<LimitName, RateLimit[]> => ({
  users_track: limitsOf(file, 'users_track'),
  users_track_bulk: limitsOf(file, 'users_track_bulk'),
  banners_sync: limitsOf(file, 'banners_sync'),
  banners_track: limitsOf(file, 'banners_track'),
  visitors: limitsOf(file, 'visitors'),
  new_users: limitsOf(file, 'new_users'),
  cdi_integrations: limitsOf(file, 'cdi_integrations'),
  users_other: limitsOf(file, 'users_other'),
  users_export_ids: limitsOf(file, 'users_export_ids'),
});

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
