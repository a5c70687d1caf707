import type { HttpError } from '../http/exchange.ts';
import type { Log } from '../log.ts';
import { createOnceAMinute } from '../log.ts';
import type { Route } from '../route.ts';
import type { KeyHolder } from '../workspace/workspace.ts';

/** Logs why requests are refused, once a minute for each cause: a page whose key is wrong asks again and again. */
export const createRefusalLog = (log: Log) => {
  const isDue = createOnceAMinute();

  /** `holder` is who sent it, as far as that is known. */
  return ({ status, why }: HttpError, route: Route, holder: KeyHolder | undefined, nowMs: number): void => {
    if (status < 400 || status >= 500) return;
    const facts = {
      ...(holder && { workspace: holder.workspace.workspaceId, key: holder.key.name }),
      path: route.path,
      status,
      why,
    };
    if (isDue(JSON.stringify(facts), nowMs)) log.warn(facts, 'requests refused');
  };
};
