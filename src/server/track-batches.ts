import {
  comparableEmail,
  comparablePhone,
  INPUT_ARRAYS,
  type InputArray,
  isPresent,
  isRecord,
  MAX_BODY_BYTES,
  MAX_TRACK_OBJECTS,
  MAX_USERS_TRACK_VALUES,
  utf8Bytes,
} from '../protocol/index.ts';
import type { TrackPosition, TrackProblem } from './track-problem.ts';

/**
 * Returns all identifiers of an object. Objects that share an identifier may concern the same user and must keep their order.
 * Includes normalized email and phone, because the API uses them for lookups.
 */
export const userKeys = (object: unknown): string[] => {
  if (!isRecord(object)) return [];
  const { external_id, braze_id, user_alias, email, phone } = object;
  const named = (kind: string, value: unknown) => (isPresent(value) ? [`${kind}:${String(value)}`] : []);
  return [
    ...named('external_id', external_id),
    ...named('braze_id', braze_id),
    ...(isRecord(user_alias)
      ? [`alias:${JSON.stringify([user_alias['alias_label'], user_alias['alias_name']])}`]
      : []),
    ...named('email', typeof email === 'string' ? comparableEmail(email) : email),
    ...named('phone', typeof phone === 'string' ? comparablePhone(phone) : phone),
  ];
};

export interface TrackItem extends TrackPosition {
  object: unknown;
}

export interface TrackBatch {
  /** By array and response `index`. */
  positions: Record<InputArray, TrackPosition[]>;
  body: string;
  users: ReadonlySet<string>;
  idempotent: boolean;
}

/** Maximum delay of an object before its batch is sent, because a source such as `tail -f` may be silent for hours. */
const MAX_WAIT_MS = 1_000;

/** Upper bound of the size of `{"attributes":[],"events":[],"purchases":[]}` and commas. */
const ENVELOPE_BYTES = 1_024;

/** Returns an upper bound of the number of JSON values. */
const countValues = (json: string): number => json.match(/[,[{]/g)?.length ?? 0;

const RANK: Record<InputArray, number> = { attributes: 0, events: 1, purchases: 2 };

const isOperation = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && ('inc' in value || '$add' in value);

/** Returns `true` for attributes that only set values, because storing them twice has no further effect. */
export const isIdempotent = ({ array, object }: Pick<TrackItem, 'array' | 'object'>): boolean =>
  array === 'attributes' && !Object.values(Object(object)).some(isOperation);

const createBatch = () => {
  const texts: Record<InputArray, string[]> = { attributes: [], events: [], purchases: [] };
  const positions: Record<InputArray, TrackPosition[]> = { attributes: [], events: [], purchases: [] };
  /** Rank of the last array that contains an object of the user, by user. */
  const ranks = new Map<string, number>();
  let bytes = ENVELOPE_BYTES;
  let values = 0;
  let count = 0;
  let idempotent = true;

  return {
    /** Checks the limits (objects, bytes, values), and that the item does not overtake an earlier item of its user. */
    canAdd(item: TrackItem, text: string, size: number, users: string[]): boolean {
      const overtakes = users.some((user) => (ranks.get(user) ?? 0) > RANK[item.array]);
      if (overtakes || count >= MAX_TRACK_OBJECTS || bytes + size > MAX_BODY_BYTES) return false;
      return count === 0 || values + countValues(text) <= MAX_USERS_TRACK_VALUES;
    },
    add(item: TrackItem, text: string, size: number, users: string[]): void {
      texts[item.array].push(text);
      positions[item.array].push({ array: item.array, index: item.index });
      for (const user of users) ranks.set(user, RANK[item.array]);
      bytes += size;
      values += countValues(text) + 1;
      count += 1;
      idempotent &&= isIdempotent(item);
    },
    done(): TrackBatch {
      const members = INPUT_ARRAYS.filter((array) => texts[array].length > 0);
      const body = `{${members.map((array) => `"${array}":[${texts[array].join(',')}]`).join(',')}}`;
      return { positions, body, users: new Set(ranks.keys()), idempotent };
    },
  };
};

const serialize = (object: unknown): { text: string } | { reason: string } => {
  try {
    // Checks the JSON text, because `toJSON` may return any value or `undefined`, which would make the whole body invalid.
    const text: string | undefined = JSON.stringify(object);
    return text?.startsWith('{') ? { text } : { reason: 'not an object' };
  } catch (error) {
    return { reason: `not serializable as JSON: ${error instanceof Error ? error.message : error}` };
  }
};

const OVER = Symbol('over');

const startTimer = () => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = new Promise<typeof OVER>((resolve) => {
    timer = setTimeout(resolve, MAX_WAIT_MS, OVER);
  });
  return { end, cancel: () => clearTimeout(timer) };
};

/**
 * Groups objects into requests of at most 75 objects and 4 MB. The API processes attributes, then events, then purchases of a
 * request, so a new request starts if the current one would reorder the objects of a user. A new request also starts after one
 * second. Objects that cannot be sent go to `reject`.
 */
export async function* batchObjects(
  items: AsyncIterable<TrackItem>,
  reject: (problem: TrackProblem) => void,
): AsyncGenerator<TrackBatch, void, undefined> {
  const reading = items[Symbol.asyncIterator]();
  let coming: Promise<IteratorResult<TrackItem>> | undefined;
  let batch = createBatch();
  /** Set while the batch is not empty. */
  let wait: ReturnType<typeof startTimer> | undefined;
  const flush = (): TrackBatch => {
    const full = batch.done();
    wait?.cancel();
    wait = undefined;
    batch = createBatch();
    return full;
  };
  try {
    for (;;) {
      coming ??= reading.next();
      const result = await (wait ? Promise.race([coming, wait.end]) : coming);
      if (result === OVER) {
        yield flush();
        continue;
      }
      coming = undefined;
      if (result.done) break;
      const item = result.value;
      const position = { array: item.array, index: item.index };
      const json = serialize(item.object);
      if ('reason' in json) {
        reject({ position, reason: json.reason });
        continue;
      }
      const size = utf8Bytes(json.text) + 1;
      if (size + ENVELOPE_BYTES > MAX_BODY_BYTES) {
        reject({ position, reason: `exceeds the request limit of ${MAX_BODY_BYTES} bytes` });
        continue;
      }
      const users = userKeys(item.object);
      if (!batch.canAdd(item, json.text, size, users)) yield flush();
      batch.add(item, json.text, size, users);
      wait ??= startTimer();
    }
    if (wait) yield flush();
  } finally {
    wait?.cancel();
    await reading.return?.();
  }
}
