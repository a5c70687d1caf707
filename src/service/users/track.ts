import type * as z from 'zod';
import {
  ERROR_MESSAGES,
  INPUT_ARRAYS,
  type InputArray,
  TRACK_ERROR,
  type TrackErrorEntry,
} from '../../protocol/index.ts';
import type { Identity, UsersTrackResponse, usersTrackBody } from '../../protocol/schemas/index.ts';
import { HttpError } from '../http/http-request.ts';
import type { UserMutation } from '../store/store.ts';
import {
  type CheckedAttributes,
  type CheckedEvent,
  checkAttributes,
  checkEvent,
  createYielder,
} from './check-objects.ts';
import { createErrorCollector } from './error-collector.ts';
import { type ProfileError, trackMutation } from './track-mutation.ts';
import type { UserRules } from './user-rules.ts';

/** Maximum number of objects per request, in total or per array. */
export interface ObjectLimit {
  max: number;
  counting: 'combined' | 'per_array';
  maxPerUser?: number;
}

/** Arrays of a request, with unchecked objects. */
type Arrays = z.output<typeof usersTrackBody>;

const checkObjectCount = (arrays: Arrays, { max, counting }: ObjectLimit) => {
  const lengths = INPUT_ARRAYS.map((name) => arrays[name]?.length ?? 0);
  const count =
    counting === 'per_array' ? Math.max(...lengths) : lengths.reduce((sum, length) => sum + length, 0);
  if (count > max) throw new HttpError(400, ERROR_MESSAGES.tooManyObjects);
};

/** Creates a counter of distinct user identifiers that does not read users. Two identifiers of one user count as two. */
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

const rejectAll = (errors: TrackErrorEntry[]): never => {
  throw new HttpError(400, ERROR_MESSAGES.noValidData, errors.length > 0 ? { members: { errors } } : {});
};

/** Checks every object, and stores valid attributes, then events, then purchases. Resolves once they are durable. */
export const trackUsers = async ({
  workspace,
  store,
  body: arrays,
  nowMs,
  limit,
}: {
  workspace: UserRules;
  store: { write(work: UserMutation<ProfileError[]>): Promise<ProfileError[]> };
  body: Arrays;
  nowMs: number;
  limit: ObjectLimit;
}): Promise<UsersTrackResponse> => {
  checkObjectCount(arrays, limit);
  const countUser = createUserCount(limit.maxPerUser);

  const errors = createErrorCollector();
  const attributes: CheckedAttributes[] = [];
  const events: CheckedEvent[] = [];
  /** Position of each object in the request. */
  const positions: Record<ProfileError['array'], [InputArray, number][]> = { attributes: [], events: [] };
  const accepted: Record<InputArray, number> = { attributes: 0, events: 0, purchases: 0 };
  const nextIfDue = createYielder();
  for (const array of INPUT_ARRAYS) {
    for (const [index, object] of (arrays[array] ?? []).entries()) {
      errors.at(array, index);
      if (array === 'attributes') {
        const checked = checkAttributes(object, workspace, errors);
        if (checked) {
          countUser(checked.identity);
          positions.attributes.push([array, index]);
          accepted[array] = attributes.push(checked);
        }
      } else {
        const checked = checkEvent(object, array, workspace, nowMs, errors);
        if (checked) {
          countUser(checked.identity);
          positions.events.push([array, index]);
          events.push(checked);
          accepted[array] += 1;
        }
      }
      const yielded = nextIfDue();
      if (yielded) await yielded;
    }
  }
  if (attributes.length === 0 && events.length === 0) rejectAll(errors.entries);

  const profileErrors = await store.write(
    trackMutation({ workspaceId: workspace.workspaceId, nowMs, attributes, events }),
  );
  for (const each of profileErrors) {
    const [array, index] = positions[each.array][each.index]!;
    errors.at(array, index);
    if (each.array === 'attributes') each.errors.forEach(errors.add);
    else {
      accepted[array] -= 1;
      errors.add(TRACK_ERROR.blockedExternalId);
    }
  }
  if (attributes.length === 0 && events.length === profileErrors.length) rejectAll(errors.entries);

  const response: UsersTrackResponse = { message: 'success' };
  for (const array of INPUT_ARRAYS) if (arrays[array]) response[`${array}_processed`] = accepted[array];
  if (errors.entries.length > 0) response.errors = errors.entries;
  return response;
};
