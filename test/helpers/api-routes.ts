import { safeParse } from 'zod/mini';
import { RATE_LIMITS } from '../../src/protocol/index.ts';
import type { Route } from '../../src/service/api/route.ts';
import { openStore } from '../../src/service/index.ts';
import { silentLog } from '../../src/service/log.ts';
import { createMissingSelectors } from '../../src/service/missing-selectors.ts';
import { createRoutes } from '../../src/service/routes/routes.ts';
import { CLIENT_KEY, SERVER_KEY } from './a-workspace.ts';

/** Every route of the API. */
export const API_ROUTES: readonly Route[] = createRoutes({
  store: await openStore(':memory:'),
  log: silentLog,
  missingSelectors: createMissingSelectors(),
});

/** Returns a path without parameters in braces. */
export const concretePath = ({ path }: Route): string => path.replaceAll(/\{\w+\}/g, '1');

/** Whether a request without a query is invalid. */
export const requiresQuery = ({ query }: Route): boolean => query !== null && !safeParse(query, {}).success;

/** Returns the key of `aWorkspace` that may call a route. */
export const keyFor = ({ crossOrigin }: Route): string => (crossOrigin ? CLIENT_KEY : SERVER_KEY);

/** `limits` of a workspace file that no test reaches. */
export const NO_LIMITS = Object.fromEntries(
  Object.entries(RATE_LIMITS).map(([name, limit]) => {
    const rule = { requests: 1_000_000_000, window_seconds: 60 };
    return [name, 'user' in limit ? { per_user: rule } : rule];
  }),
);
