import { MAX_SYNC_BODY_BYTES, MAX_SYNC_VALUES, PLACEMENTS_PATH } from '../../protocol/index.ts';
import {
  type PlacementsResponse,
  placementsRequest,
  placementsResponse,
} from '../../protocol/schemas/index.ts';
import { browserBody, defineRoute } from '../api/route.ts';
import { schemaReader } from '../http/body.ts';
import { createLogThrottle, type Log } from '../log.ts';
import type { MissingSelectors } from '../missing-selectors.ts';

/** Returns the placements that pages insert automatically. They are the same for every user, and public. */
export const placements = (log: Log, missingSelectors: MissingSelectors) => {
  const shouldLog = createLogThrottle();
  return defineRoute({
    path: PLACEMENTS_PATH,
    permission: 'banners.sync',
    errorFormat: 'track',
    limit: 'banners_sync',
    body: browserBody(schemaReader(placementsRequest), {
      maxBytes: MAX_SYNC_BODY_BYTES,
      maxValues: MAX_SYNC_VALUES,
    }),
    response: { status: 200, schema: placementsResponse },
    operation: {
      id: 'placements',
      tag: 'Banners',
      summary: 'List placements with a selector',
      description:
        'Returns the placements of the workspace that have a selector. A page with `selectors()` calls it at most once in five minutes, and reports selectors without a match.',
      example: {},
      badRequest: '`missing` is not a list of texts.',
      notFound: 'Banners are not enabled in this workspace.',
    },
    handler: async ({ workspace, body, now }) => {
      const { workspaceId } = workspace;
      const response: PlacementsResponse = { placements: [] };
      for (const placement of workspace.placements ?? []) {
        const { placementId, template, insertionPoint } = placement;
        if (!insertionPoint || !template) continue;
        response.placements.push({
          placement_id: placementId,
          selector: insertionPoint.selector,
          insert: insertionPoint.insert,
          paths: [...insertionPoint.paths],
          template,
          height_px: insertionPoint.heightPx,
          wide_height_px: insertionPoint.wideHeightPx,
        });
        if (!body.missing?.includes(placementId)) continue;
        missingSelectors.add(workspaceId, placement, now);
        if (shouldLog(JSON.stringify([workspaceId, placementId]), now))
          log.warn(
            { workspace: workspaceId, placement: placementId, selector: insertionPoint.selector },
            'selector without a match',
          );
      }
      return { body: response };
    },
  });
};
