import type * as z from 'zod';
import {
  ERROR_MESSAGES,
  INPUT_ARRAYS,
  type InputArray,
  isRecord,
  MAX_BODY_BYTES,
  MAX_BULK_BODY_BYTES,
  MAX_BULK_OBJECTS,
  MAX_BULK_OBJECTS_PER_USER,
  MAX_TRACK_OBJECTS,
  MAX_USERS_TRACK_VALUES,
  TRACK_ERROR,
  type TrackErrorEntry,
  USERS_TRACK_PATH,
  type UsersTrackAnswer,
} from '../../protocol/index.ts';
import {
  type Identity,
  usersTrackAnswer,
  usersTrackBody,
  usersTrackBulkRequest,
  usersTrackRequest,
} from '../../protocol/schemas/index.ts';
import { defineRoute, type Operation, type Route, type RouteMetrics, serverBody } from '../api/route.ts';
import { schemaReader } from '../http/body.ts';
import { HttpError } from '../http/http-request.ts';
import type { UserWork } from '../store/store.ts';
import {
  type CheckedAttributes,
  type CheckedEvent,
  checkAttributes,
  checkEvent,
  createTurns,
} from './check-objects.ts';
import { createErrorCollector } from './error-collector.ts';
import { type ProfileFault, trackWork } from './track-work.ts';
import type { UserRules } from './user-rules.ts';

/** Objects a request may hold: over all arrays, or in each. */
interface ObjectLimit {
  max: number;
  counting: 'combined' | 'per_array';
  maxPerUser?: number;
}

/** The arrays of a request. Their objects are not checked yet. */
type Arrays = z.output<typeof usersTrackBody>;

const refuseTooMany = (arrays: Arrays, { max, counting }: ObjectLimit) => {
  const lengths = INPUT_ARRAYS.map((name) => arrays[name]?.length ?? 0);
  const count =
    counting === 'per_array' ? Math.max(...lengths) : lengths.reduce((sum, length) => sum + length, 0);
  if (count > max) throw new HttpError(400, ERROR_MESSAGES.tooManyObjects);
};

/** Counts objects by what looks their user up. Nobody is read for this: two identifiers of one user count as two users. */
const createUserCount = (max = Number.POSITIVE_INFINITY) => {
  const counts = new Map<string, number>();
  return (identity: Identity | null) => {
    if (identity === null || max === Number.POSITIVE_INFINITY) return;
    const user = JSON.stringify(identity.lookup);
    const count = (counts.get(user) ?? 0) + 1;
    if (count > max) throw new HttpError(400, ERROR_MESSAGES.tooManyObjectsPerUser);
    counts.set(user, count);
  };
};

const refuse = (errors: TrackErrorEntry[]): never => {
  throw new HttpError(400, ERROR_MESSAGES.noValidData, errors.length > 0 ? { members: { errors } } : {});
};

/** Checks every object alone and stores those that pass: attributes, then events, then purchases. Resolves once they are durable. */
export const trackUsers = async ({
  workspace,
  store,
  body: arrays,
  nowMs,
  limit,
}: {
  workspace: UserRules;
  store: { write(work: UserWork<ProfileFault[]>): Promise<ProfileFault[]> };
  body: Arrays;
  nowMs: number;
  limit: ObjectLimit;
}): Promise<UsersTrackAnswer> => {
  refuseTooMany(arrays, limit);
  const countUser = createUserCount(limit.maxPerUser);

  const problems = createErrorCollector();
  const attributes: CheckedAttributes[] = [];
  const events: CheckedEvent[] = [];
  /** Where each of them stands in the request. */
  const places: Record<ProfileFault['of'], [InputArray, number][]> = { attributes: [], events: [] };
  const taken: Record<InputArray, number> = { attributes: 0, events: 0, purchases: 0 };
  const nextIfDue = createTurns();
  for (const array of INPUT_ARRAYS) {
    for (const [index, object] of (arrays[array] ?? []).entries()) {
      problems.at(array, index);
      if (array === 'attributes') {
        const checked = checkAttributes(object, workspace, problems);
        if (checked) {
          countUser(checked.identity);
          places.attributes.push([array, index]);
          taken[array] = attributes.push(checked);
        }
      } else {
        const checked = checkEvent(object, array, workspace, nowMs, problems);
        if (checked) {
          countUser(checked.identity);
          places.events.push([array, index]);
          events.push(checked);
          taken[array] += 1;
        }
      }
      const turn = nextIfDue();
      if (turn) await turn;
    }
  }
  if (attributes.length === 0 && events.length === 0) refuse(problems.entries);

  const faults = await store.write(
    trackWork({ workspaceId: workspace.workspaceId, nowMs, attributes, events }),
  );
  for (const fault of faults) {
    const [array, index] = places[fault.of][fault.position]!;
    problems.at(array, index);
    if (fault.of === 'attributes') fault.problems.forEach(problems.add);
    else {
      taken[array] -= 1;
      problems.add(TRACK_ERROR.blockedExternalId);
    }
  }
  if (attributes.length === 0 && events.length === faults.length) refuse(problems.entries);

  const answer: UsersTrackAnswer = { message: 'success' };
  for (const array of INPUT_ARRAYS) if (arrays[array]) answer[`${array}_processed`] = taken[array];
  if (problems.entries.length > 0) answer.errors = problems.entries;
  return answer;
};

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
  /** What the description of the API shows. A request is not refused by it: each object is checked alone. */
  schema: typeof usersTrackRequest;
  bounds: { maxBytes: number; tooLarge: 413 | 400 };
  operation: Pick<Operation, 'id' | 'summary' | 'description'>;
  objects(workspace: UserRules): ObjectLimit;
}

const trackRoute = ({ path, permission, limit, schema, bounds, operation, objects }: TrackRoute) =>
  defineRoute({
    method: 'POST',
    path,
    permission,
    errors: 'general',
    rate: 'users-track',
    limit,
    body: serverBody(schemaReader(usersTrackBody, schema), {
      ...bounds,
      maxValues: MAX_USERS_TRACK_VALUES,
    }),
    operation: {
      ...operation,
      tag: 'Users',
      example: EXAMPLE,
      success: 201,
      response: usersTrackAnswer,
      writes: true,
      badRequest: 'No object was valid, there were too many, or the body is no JSON.',
    },
    async handler({ workspace, store, body, now, metrics }) {
      try {
        const answer = await trackUsers({ workspace, store, body, nowMs: now, limit: objects(workspace) });
        for (const array of INPUT_ARRAYS) metrics.objects(array, answer[`${array}_processed`] ?? 0);
        recordErrors(metrics, answer.errors);
        return { status: 201, body: answer };
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
    description: `At most ${MAX_TRACK_OBJECTS} objects over all arrays. \`errors\` says what is wrong with single objects, by array and index; the others are stored. Attributes are applied first, then events, then purchases.`,
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
