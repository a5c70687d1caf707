import type { LimitName } from '../route.ts';
import type { RateRule } from '../store/store.ts';
import type { WorkspaceFile } from './file-schema.ts';
import type { RateLimit } from './workspace.ts';

/** What an endpoint allows where the file says nothing: the published base rates. */
const DEFAULTS: Record<LimitName, RateRule[]> = {
  users_track: [{ requests: 3_000, windowSeconds: 3 }],
  users_track_bulk: [{ requests: 50, windowSeconds: 1 }],
  banners_sync: [{ requests: 300, windowSeconds: 60 }],
  banners_track: [{ requests: 300, windowSeconds: 60 }],
  cdi_integrations: [{ requests: 50, windowSeconds: 60 }],
  users_other: [{ requests: 20_000, windowSeconds: 60 }],
  users_export_ids: [{ requests: 250, windowSeconds: 60 }],
};

type LimitFile = NonNullable<NonNullable<WorkspaceFile['limits']>[LimitName]>;

const rulesOf = (limit: LimitFile | undefined): RateRule[] | undefined => {
  if (limit?.windows) {
    return limit.windows.map(({ requests, window_seconds }) => ({ requests, windowSeconds: window_seconds }));
  }
  if (limit?.requests === undefined || limit.window_seconds === undefined) return undefined;
  return [{ requests: limit.requests, windowSeconds: limit.window_seconds }];
};

/**
 * Longest window first: its state is what an answer's headers tell. The shortest one of `users_track` is the burst,
 * which all workspaces that name the same company share.
 */
const limitsOf = (file: WorkspaceFile, name: LimitName): RateLimit[] => {
  const rules = (rulesOf(file.limits?.[name]) ?? DEFAULTS[name]).toSorted(
    (one, other) => other.windowSeconds - one.windowSeconds,
  );
  return rules.map((rule, index) => {
    const isSharedBurst =
      name === 'users_track' && file.company_id !== undefined && index === rules.length - 1;
    const owner = isSharedBurst ? `company:${file.company_id}` : `workspace:${file.workspace_id}`;
    return { key: `${owner}:${name}:${rule.windowSeconds}`, rule };
  });
};

export const rateLimitsOf = (file: WorkspaceFile): Record<LimitName, RateLimit[]> => {
  const names = Object.keys(DEFAULTS) as LimitName[];
  return Object.fromEntries(names.map((name) => [name, limitsOf(file, name)])) as Record<
    LimitName,
    RateLimit[]
  >;
};
