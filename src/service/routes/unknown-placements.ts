import type { Log } from '../log.ts';
import { createOnceAMinute } from '../log.ts';
import { nearest } from '../nearest.ts';
import type { RouteContext } from '../route.ts';

/** What a placement is called. Other texts, such as an e-mail address that came here by mistake, are not logged. */
const NAME = /^[\w.:/-]{1,64}$/;

/** Logs each placement that a page asks for and the workspace file does not have, once a minute. */
export const createUnknownPlacements = (log: Log) => {
  const isDue = createOnceAMinute();

  return ({ workspace, key, now }: RouteContext, requested: readonly string[]): void => {
    const { workspaceId, placementIds } = workspace;
    for (const placement of requested) {
      if (placementIds.has(placement)) continue;
      const isName = NAME.test(placement);
      const cause = JSON.stringify([workspaceId, key.name, isName && placement]);
      if (!isDue(cause, now)) continue;
      const meant = nearest(placement, placementIds);
      log.warn(
        {
          workspace: workspaceId,
          key: key.name,
          placement: isName ? placement : 'something that is no name',
          ...(meant !== null && { nearest: meant }),
        },
        'unknown placement: a page asks for it, and the workspace file does not have it',
      );
    }
  };
};
