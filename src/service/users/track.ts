import type * as z from 'zod';
import {
  FATAL,
  INPUT_ARRAYS,
  type InputArray,
  isPresent,
  isRecord,
  TRACK_ERROR,
  type TrackErrorEntry,
  type UsersTrackAnswer,
} from '../../protocol/index.ts';
import { checkAlias, type usersTrackBody } from '../../protocol/schemas/index.ts';
import { HttpError } from '../http/exchange.ts';
import type { Store } from '../store/store.ts';
import type { Workspace } from '../workspace/workspace.ts';
import {
  type CheckedAttributes,
  type CheckedEvent,
  checkAttributes,
  checkEvent,
  createProblems,
} from './check-objects.ts';
import { trackWork } from './track-work.ts';

/** How long a request may be worked on before others get their turn. */
const SLICE_MS = 5;
/** Reading the clock for every small object would cost more than checking it. */
const READ_EVERY = 4;

/** Yields to the event loop: a body of megabytes must not keep other requests waiting until all of it is checked. */
const createYielding = () => {
  let started = performance.now();
  let calls = 0;
  return {
    /** To be called after each piece of work; where it is true, await `yield`. */
    isDue(): boolean {
      calls += 1;
      return calls % READ_EVERY === 0 && performance.now() - started > SLICE_MS;
    },
    async yield(): Promise<void> {
      await new Promise((resolve) => setImmediate(resolve));
      started = performance.now();
    },
  };
};

/** Objects a request may hold: over all arrays, or in each. */
export interface ObjectLimit {
  max: number;
  counting: 'combined' | 'per_array';
  maxPerUser?: number;
}

/** The arrays of a request, whose objects are unjudged. */
type Arrays = z.output<typeof usersTrackBody>;

export interface TrackInput {
  workspace: Workspace;
  store: Pick<Store, 'write'>;
  body: Arrays;
  nowMs: number;
  limit: ObjectLimit;
}

const refuseTooMany = (arrays: Arrays, { max, counting, maxPerUser }: ObjectLimit) => {
  const lengths = INPUT_ARRAYS.map((name) => arrays[name]?.length ?? 0);
  const count =
    counting === 'per_array' ? Math.max(...lengths) : lengths.reduce((sum, length) => sum + length, 0);
  if (count > max) throw new HttpError(400, FATAL.tooManyObjects);
  if (maxPerUser !== undefined && count > maxPerUser) refuseTooManyPerUser(arrays, maxPerUser);
};

const IDENTIFIERS = ['external_id', 'user_alias', 'braze_id', 'email', 'phone'] as const;

/** The first identifier of an object as one text; `null` where it has none that is one. */
const identifierOf = (object: Record<string, unknown>): string | null => {
  for (const name of IDENTIFIERS) {
    const value = object[name];
    if (!isPresent(value)) continue;
    if (typeof value === 'string' || typeof value === 'number') return `${name} ${value}`;
    const alias = checkAlias(value);
    return alias && JSON.stringify([alias.alias_label, alias.alias_name]);
  }
  return null;
};

/** Users are distinguished by the identifier as it was sent. */
const refuseTooManyPerUser = (arrays: Arrays, max: number) => {
  const counts = new Map<string, number>();
  for (const object of INPUT_ARRAYS.flatMap((name) => arrays[name] ?? [])) {
    const id = isRecord(object) ? identifierOf(object) : null;
    if (id === null) continue;
    const count = (counts.get(id) ?? 0) + 1;
    if (count > max) throw new HttpError(400, FATAL.tooManyObjectsPerUser);
    counts.set(id, count);
  }
};

/**
 * `/users/track` and its bulk sister: every object is checked alone, then what is left is applied: attributes,
 * events, purchases. Resolves once that is durable.
 */
export const trackUsers = async ({
  workspace,
  store,
  body: arrays,
  nowMs,
  limit,
}: TrackInput): Promise<UsersTrackAnswer> => {
  refuseTooMany(arrays, limit);

  const problems = createProblems();
  const attributes: CheckedAttributes[] = [];
  const events: CheckedEvent[] = [];
  /** Where each of `events` stands in the request. */
  const places: [InputArray, number][] = [];
  let nestedAllowed = true;
  const yielding = createYielding();
  for (const [index, object] of (arrays.attributes ?? []).entries()) {
    problems.at('attributes', index);
    const checked = checkAttributes(object, workspace, problems);
    if (checked) {
      attributes.push(checked);
      if (checked.hasBadNested) nestedAllowed = false;
    }
    if (yielding.isDue()) await yielding.yield();
  }
  for (const [index, object] of (arrays.events ?? []).entries()) {
    problems.at('events', index);
    const checked = checkEvent(object, 'event', workspace, nowMs, problems);
    if (checked) places[events.push(checked) - 1] = ['events', index];
    if (yielding.isDue()) await yielding.yield();
  }
  for (const [index, object] of (arrays.purchases ?? []).entries()) {
    problems.at('purchases', index);
    const checked = checkEvent(object, 'purchase', workspace, nowMs, problems);
    if (checked) places[events.push(checked) - 1] = ['purchases', index];
    if (yielding.isDue()) await yielding.yield();
  }
  if (attributes.length === 0 && events.length === 0) refuse(problems.entries);

  const { workspaceId } = workspace;
  const refused = await store.write(trackWork({ workspaceId, nowMs, attributes, events, nestedAllowed }));
  for (const position of refused) {
    problems.at(...places[position]!);
    problems.add(TRACK_ERROR.blockedExternalId);
  }
  if (attributes.length === 0 && events.length === refused.length) refuse(problems.entries);
  const count = (name: InputArray) => {
    const isOf = (position: number) => places[position]![0] === name;
    return [...places.keys()].filter(isOf).length - refused.filter(isOf).length;
  };

  const answer: UsersTrackAnswer = { message: 'success' };
  if (arrays.attributes) answer.attributes_processed = attributes.length;
  if (arrays.events) answer.events_processed = count('events');
  if (arrays.purchases) answer.purchases_processed = count('purchases');
  if (problems.entries.length > 0) answer.errors = problems.entries;
  return answer;
};

const refuse = (errors: TrackErrorEntry[]): never => {
  throw new HttpError(400, FATAL.noValidData, errors.length > 0 ? { members: { errors } } : {});
};
