import * as z from 'zod';
import {
  getKeys,
  type LimitDefinition,
  type LimitName,
  mapKeys,
  RATE_LIMITS,
  type RateLimitWindow,
} from '../../protocol/index.ts';
import { formatCount } from '../format-count.ts';
import { createIssue, type LocatedIssue } from '../issues.ts';
import { optional } from './schema-helpers.ts';

const rule = {
  requests: z.int().positive().describe('Requests per window'),
  window_seconds: z.int().positive().describe('Window in seconds'),
};

/** Schema of several windows. Their lengths must differ, because windows of the same length would share a counter. */
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
  windows: optional(windows).describe('Several windows, instead of `requests` and `window_seconds`'),
};

/** Adds the members of one window, or `windows` for several. Both may be absent if the limit has other settings. */
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

/** Per-user window, for limits that have one. */
const perUser = optional(z.strictObject(rule)).describe('Window per user');
const objects = optional(z.enum(['combined', 'per_array'])).describe(
  'Whether the limit of 75 objects applies to all arrays together (`combined`, default) or to each (`per_array`)',
);

const NAMES = getKeys(RATE_LIMITS);
const getLimit = (name: LimitName): LimitDefinition => RATE_LIMITS[name];
const byName = <T>(make: (name: LimitName) => T): Record<LimitName, T> => mapKeys(NAMES, make);

const formatRate = ({ requests, windowSeconds }: RateLimitWindow): string =>
  `${requests.toLocaleString('en-US')} in ${formatCount(windowSeconds, 'second')}`;

/** Formats the default of a limit: `3,000 in 3 seconds`. */
const formatDefault = ({ workspace, user }: LimitDefinition): string =>
  user ? `${formatRate(user)} per user, unlimited per workspace` : formatRate(workspace!);

/** Describes the default limit of a route's requests. */
export const formatLimit = (name: LimitName): string => {
  const { user, workspace } = getLimit(name);
  const { requests, windowSeconds } = user ?? workspace!;
  const per = windowSeconds === 1 ? 'a second' : formatCount(windowSeconds, 'second');
  return `${formatCount(requests, 'request')} in ${per}${user ? ' for each user' : ''}`;
};

const limitSchema = ({ counts, hasObjects, user, workspace }: LimitDefinition) => {
  const shape = z.strictObject({ ...limitShape, per_user: perUser, objects });
  const narrowed = shape.omit({
    ...(!user && { per_user: true }),
    ...(!hasObjects && { objects: true }),
  }) as typeof shape;
  return optional(narrowed.superRefine(oneOrSeveral)).describe(
    `${counts}; default ${formatDefault({ counts, workspace, ...(user && { user }) })}`,
  );
};

/** Schema of `limits`. */
export const limits = z.strictObject(byName((name) => limitSchema(getLimit(name))));

type LimitsFile = z.output<typeof limits>;
type LimitFile = NonNullable<LimitsFile[LimitName]>;

/** Limits in a workspace file. */
interface LimitedFile {
  workspace_id: string;
  company_id?: string | undefined;
  limits?: LimitsFile | undefined;
}

/** Window of an endpoint. Workspaces of a company share the key of their burst window. */
export interface RateLimit {
  key: string;
  rule: RateLimitWindow;
}

type RuleFile = { requests: number; window_seconds: number };

const toRule = ({ requests, window_seconds }: RuleFile): RateLimitWindow => ({
  requests,
  windowSeconds: window_seconds,
});

const toRules = (limit: LimitFile | undefined): RateLimitWindow[] | undefined => {
  if (limit?.windows) return limit.windows.map(toRule);
  const { requests, window_seconds } = limit ?? {};
  return requests === undefined || window_seconds === undefined
    ? undefined
    : [toRule({ requests, window_seconds })];
};

/**
 * Returns the windows of an endpoint, longest first because the response headers report the first. The shortest window of
 * `users_track` is the burst window, shared by all workspaces with the same company.
 */
const toWorkspaceLimits = (file: LimitedFile, name: LimitName): RateLimit[] => {
  const { workspace } = getLimit(name);
  const rules = (toRules(file.limits?.[name]) ?? (workspace ? [workspace] : [])).toSorted(
    (one, other) => other.windowSeconds - one.windowSeconds,
  );
  return rules.map((rule, index) => {
    const isSharedBurst =
      name === 'users_track' && file.company_id !== undefined && index === rules.length - 1;
    const owner = isSharedBurst ? `company:${file.company_id}` : `workspace:${file.workspace_id}`;
    return { key: `${owner}:${name}:${rule.windowSeconds}`, rule };
  });
};

/** Returns the per-user windows of the endpoints that have one. */
export const toUserLimits = (file: LimitedFile): Partial<Record<LimitName, RateLimitWindow>> =>
  Object.fromEntries(
    NAMES.flatMap((name) => {
      const own = file.limits?.[name]?.per_user;
      const rule = own ? toRule(own) : getLimit(name).user;
      return rule ? [[name, rule]] : [];
    }),
  );

export const toRateLimits = (file: LimitedFile): Record<LimitName, RateLimit[]> =>
  byName((name) => toWorkspaceLimits(file, name));

/** Minimum sensible banner requests per workspace and second, because a few visitors exhaust a lower limit. */
const LOW_WORKSPACE = 20;
/** Minimum sensible banner requests per user and minute. A page syncs once per view and sends events every few seconds. */
const LOW_USER = 10;

const toFacts = ({ requests, windowSeconds }: RateLimitWindow) => ({ requests, seconds: windowSeconds });

/** Returns warnings for limits of the banner endpoints that are too low to be intended. */
export const lowLimits = (file: LimitedFile): LocatedIssue[] =>
  (['banners_sync', 'banners_track'] as const).flatMap((name) => {
    const limit = file.limits?.[name];
    const low = (toRules(limit) ?? []).find(
      ({ requests, windowSeconds }) => requests / windowSeconds < LOW_WORKSPACE,
    );
    const user = toUserLimits(file)[name]!;
    return [
      ...(low ? [{ path: ['limits', name], ...createIssue('low_workspace_limit', toFacts(low)) }] : []),
      ...((user.requests * 60) / user.windowSeconds < LOW_USER
        ? [{ path: ['limits', name, 'per_user'], ...createIssue('low_user_limit', toFacts(user)) }]
        : []),
    ];
  });
