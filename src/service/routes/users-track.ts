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
  type UsersTrackAnswer,
} from '../../protocol/index.ts';
import { usersTrackAnswer, usersTrackBulkRequest, usersTrackRequest } from '../../protocol/schemas/index.ts';
import { HttpError } from '../http/exchange.ts';
import type { Route, RouteMetrics } from '../route.ts';
import { trackUsers } from '../users/track.ts';

const recordErrors = (metrics: RouteMetrics, errors: unknown) => {
  if (!Array.isArray(errors)) return;
  for (const entry of errors) {
    // A text with a name from the wire in it is not a code: as a label it would have endless values.
    if (isRecord(entry)) metrics.error(codeOf(String(entry['type'])));
  }
};

const codeOf = (type: string): string => {
  if (type.startsWith("Invalid nested custom attribute '")) return 'INVALID_NESTED_CUSTOM_ATTRIBUTE';
  const named = /^'.*' is (not valid|required)$/s.exec(type);
  if (named) return named[1] === 'required' ? 'REQUIRED' : 'NOT_VALID';
  return type;
};

/** Counts what was accepted and what was refused, whether the answer is one or a refusal. */
export const recordTrack = async (
  metrics: RouteMetrics,
  work: Promise<UsersTrackAnswer>,
): Promise<UsersTrackAnswer> => {
  try {
    const answer = await work;
    for (const name of INPUT_ARRAYS) {
      const count = answer[`${name}_processed`];
      if (count !== undefined) metrics.objects(name, count);
    }
    recordErrors(metrics, answer.errors);
    return answer;
  } catch (error) {
    if (error instanceof HttpError) recordErrors(metrics, error.members?.['errors']);
    throw error;
  }
};

const TRACK_OPERATION = {
  tag: 'Users' as const,
  example: {
    attributes: [{ external_id: 'u-771', tier: 'gold', visits: { inc: 1 } }],
    events: [
      { external_id: 'u-771', name: 'quiz_done', time: '2026-03-01T09:15:00.000Z', properties: { score: 8 } },
    ],
    purchases: [
      {
        external_id: 'u-771',
        product_id: 'teapot',
        currency: 'EUR',
        price: 42.5,
        time: '2026-03-01T09:16:00.000Z',
      },
    ],
  },
  success: 201,
  answer: usersTrackAnswer,
  writes: true as const,
  badRequest: 'No object was valid, there were too many, or the body is no JSON.',
};

export const usersTrack: Route = {
  method: 'POST',
  path: USERS_TRACK_PATH,
  permission: 'users.track',
  errors: 'general',
  rate: 'users-track',
  limit: 'users_track',
  maxBodyBytes: MAX_BODY_BYTES,
  maxValues: MAX_USERS_TRACK_VALUES,
  tooLarge: 413,
  operation: {
    id: 'trackUsers',
    summary: 'Record attributes, events and purchases',
    description: `At most ${MAX_TRACK_OBJECTS} objects over all arrays. \`errors\` says what is wrong with single objects, by array and index; the others are stored. Attributes are applied first, then events, then purchases.`,
    request: usersTrackRequest,
    ...TRACK_OPERATION,
  },
  async answer({ workspace, store, body, now, metrics }) {
    const answer = await recordTrack(
      metrics,
      trackUsers({
        workspace,
        store,
        body,
        nowMs: now,
        limit: { max: MAX_TRACK_OBJECTS, counting: workspace.trackObjects },
      }),
    );
    return { status: 201, body: answer };
  },
};

export const usersTrackBulk: Route = {
  method: 'POST',
  path: '/users/track/bulk',
  permission: 'users.track.bulk',
  errors: 'general',
  rate: 'users-track',
  limit: 'users_track_bulk',
  maxBodyBytes: MAX_BULK_BODY_BYTES,
  maxValues: MAX_USERS_TRACK_VALUES,
  tooLarge: 400,
  operation: {
    id: 'trackUsersInBulk',
    summary: 'Record many attributes, events and purchases',
    description: `Like \`/users/track\`, with at most ${MAX_BULK_OBJECTS.toLocaleString('en-US')} objects, ${MAX_BULK_OBJECTS_PER_USER} of one user, and 2 MB.`,
    request: usersTrackBulkRequest,
    ...TRACK_OPERATION,
  },
  async answer({ workspace, store, body, now, metrics }) {
    const answer = await recordTrack(
      metrics,
      trackUsers({
        workspace,
        store,
        body,
        nowMs: now,
        limit: { max: MAX_BULK_OBJECTS, counting: 'combined', maxPerUser: MAX_BULK_OBJECTS_PER_USER },
      }),
    );
    return { status: 201, body: answer };
  },
};
