import {
  INPUT_ARRAYS,
  isRecord,
  MAX_BODY_BYTES,
  MAX_BULK_BODY_BYTES,
  MAX_BULK_OBJECTS,
  MAX_BULK_OBJECTS_PER_USER,
  MAX_TRACK_OBJECTS,
  MAX_USERS_TRACK_VALUES,
  USERS_TRACK_PATH,
} from '../../protocol/index.ts';
import {
  usersTrackBody,
  usersTrackBulkRequest,
  usersTrackRequest,
  usersTrackResponse,
} from '../../protocol/schemas/index.ts';
import { defineRoute, type Operation, type Route, type RouteMetrics, serverBody } from '../api/route.ts';
import { schemaReader } from '../http/body.ts';
import { HttpError } from '../http/http-request.ts';
import { type ObjectLimit, trackUsers } from '../users/track.ts';
import type { UserRules } from '../users/user-rules.ts';

const recordErrors = (metrics: RouteMetrics, errors: unknown) => {
  for (const entry of Array.isArray(errors) ? errors : [])
    if (isRecord(entry)) metrics.error(String(entry['type']));
};

const EXAMPLE = {
  attributes: [{ external_id: 'u-771', tier: 'gold', visits: { inc: 1 } }],
  events: [
    { external_id: 'u-771', name: 'quiz_done', time: '2026-03-01T09:15:00Z', properties: { score: 8 } },
  ],
  purchases: [
    { external_id: 'u-771', product_id: 'tea', currency: 'EUR', price: 4, time: '2026-03-01T09:16:00Z' },
  ],
};

interface TrackRoute extends Pick<Route, 'path' | 'permission' | 'limit'> {
  /** For the API description only. Requests are not validated against it, because each object is checked separately. */
  schema: typeof usersTrackRequest;
  bounds: { maxBytes: number; tooLarge: 413 | 400 };
  operation: Pick<Operation, 'id' | 'summary' | 'description'>;
  objects(workspace: UserRules): ObjectLimit;
}

const trackRoute = ({ path, permission, limit, schema, bounds, operation, objects }: TrackRoute) =>
  defineRoute({
    path,
    permission,
    rateHeaderFormat: 'users-track',
    limit,
    body: serverBody(schemaReader(usersTrackBody, schema), {
      ...bounds,
      maxValues: MAX_USERS_TRACK_VALUES,
    }),
    response: { status: 201, schema: usersTrackResponse },
    writes: true,
    operation: {
      ...operation,
      tag: 'Users',
      example: EXAMPLE,
      badRequest: 'No object was valid, there were too many, or the body is not JSON.',
    },
    async handler({ workspace, store, body, now, metrics }) {
      try {
        const response = await trackUsers({ workspace, store, body, nowMs: now, limit: objects(workspace) });
        for (const array of INPUT_ARRAYS) metrics.objects(array, response[`${array}_processed`] ?? 0);
        recordErrors(metrics, response.errors);
        return { body: response };
      } catch (error) {
        if (error instanceof HttpError) recordErrors(metrics, error.members?.['errors']);
        throw error;
      }
    },
  });

export const usersTrack = trackRoute({
  path: USERS_TRACK_PATH,
  permission: 'users.track',
  limit: 'users_track',
  schema: usersTrackRequest,
  bounds: { maxBytes: MAX_BODY_BYTES, tooLarge: 413 },
  operation: {
    id: 'trackUsers',
    summary: 'Record attributes, events and purchases',
    description: `At most ${MAX_TRACK_OBJECTS} objects over all arrays, or in each array if the workspace has \`objects: per_array\`. \`errors\` lists rejected objects by array and index; the others are stored. Attributes are applied first, then events, then purchases.`,
  },
  objects: ({ trackObjects }) => ({ max: MAX_TRACK_OBJECTS, counting: trackObjects }),
});

export const usersTrackBulk = trackRoute({
  path: '/users/track/bulk',
  permission: 'users.track.bulk',
  limit: 'users_track_bulk',
  schema: usersTrackBulkRequest,
  bounds: { maxBytes: MAX_BULK_BODY_BYTES, tooLarge: 400 },
  operation: {
    id: 'trackUsersInBulk',
    summary: 'Record many attributes, events and purchases',
    description: `Like \`/users/track\`, with at most ${MAX_BULK_OBJECTS.toLocaleString('en-US')} objects, ${MAX_BULK_OBJECTS_PER_USER} of one user, and 2 MB.`,
  },
  objects: () => ({ max: MAX_BULK_OBJECTS, counting: 'combined', maxPerUser: MAX_BULK_OBJECTS_PER_USER }),
});
