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
import type { TrackPosition, TrackProblem } from './track-report.ts';

/**
 * Every name by which an object may mean a user. Two objects that share one may concern the same user, so the order
 * between them counts; e-mail and phone belong to it because the service looks users up by them, in any spelling.
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

/** One object of the input, where it came from. */
export interface TrackItem extends TrackPosition {
  object: unknown;
}

/** Objects that travel in one request. */
export interface TrackBatch {
  /** By array, in the order they are sent: an answer's `index` is a position here. */
  positions: Record<InputArray, TrackPosition[]>;
  body: string;
  users: ReadonlySet<string>;
  /** Whether taking it twice would do no harm: attributes that set values, nothing that adds or counts. */
  repeatable: boolean;
}

/** How long an object waits for others to share a request, in milliseconds: `tail -f` may be silent for hours. */
const MAX_WAIT_MS = 1_000;

/** `{"attributes":[],"events":[],"purchases":[]}` and a comma for each object fit well into this. */
const ENVELOPE_BYTES = 1_024;

/** At least as many as the JSON has values, of which the service takes so many in a request. */
const valuesIn = (json: string): number => json.match(/[,[{]/g)?.length ?? 0;

const RANK: Record<InputArray, number> = { attributes: 0, events: 1, purchases: 2 };

const isOperation = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && ('inc' in value || '$add' in value);

/** Whether it does no harm if the object is taken twice: attributes that set values, and nothing that adds or counts. */
export const isRepeatable = ({ array, object }: Pick<TrackItem, 'array' | 'object'>): boolean =>
  array === 'attributes' && !Object.values(Object(object)).some(isOperation);

const createBatch = () => {
  const texts: Record<InputArray, string[]> = { attributes: [], events: [], purchases: [] };
  const positions: Record<InputArray, TrackPosition[]> = { attributes: [], events: [], purchases: [] };
  /** By user, the last of the service's three steps that an object of theirs is in. */
  const ranks = new Map<string, number>();
  let bytes = ENVELOPE_BYTES;
  let values = 0;
  let count = 0;
  let repeatable = true;

  return {
    /** Whether the item may join: by count, bytes and values, and without overtaking an earlier object of its user. */
    takes(item: TrackItem, text: string, size: number, users: string[]): boolean {
      const overtakes = users.some((user) => (ranks.get(user) ?? 0) > RANK[item.array]);
      if (overtakes || count >= MAX_TRACK_OBJECTS || bytes + size > MAX_BODY_BYTES) return false;
      return count === 0 || values + valuesIn(text) <= MAX_USERS_TRACK_VALUES;
    },
    add(item: TrackItem, text: string, size: number, users: string[]): void {
      texts[item.array].push(text);
      positions[item.array].push({ array: item.array, index: item.index });
      for (const user of users) ranks.set(user, RANK[item.array]);
      bytes += size;
      values += valuesIn(text) + 1;
      count += 1;
      repeatable &&= isRepeatable(item);
    },
    done(): TrackBatch {
      const members = INPUT_ARRAYS.filter((array) => texts[array].length > 0);
      const body = `{${members.map((array) => `"${array}":[${texts[array].join(',')}]`).join(',')}}`;
      return { positions, body, users: new Set(ranks.keys()), repeatable };
    },
  };
};

const serialised = (object: unknown): { text: string } | { reason: string } => {
  try {
    // The text decides, not the value: a `toJSON` may write anything, or nothing, which would break the whole body.
    const text: string | undefined = JSON.stringify(object);
    return text?.startsWith('{') ? { text } : { reason: 'not an object' };
  } catch (error) {
    return { reason: `cannot be written as JSON: ${(error as Error).message}` };
  }
};

const OVER = Symbol('over');

/** A wait that ends by itself; called off, it never does. */
const startWait = () => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = new Promise<typeof OVER>((resolve) => {
    timer = setTimeout(resolve, MAX_WAIT_MS, OVER);
  });
  return { end, callOff: () => clearTimeout(timer) };
};

/**
 * Cuts the input into requests of at most 75 objects and 4 MB. Inside a request the service works through attributes,
 * then events, then purchases; where that would put a user's objects out of order, a new request begins. So it does
 * where nothing more has come for a second. What cannot be sent at all goes to `refuse`, and the rest goes on.
 */
export async function* cutBatches(
  items: AsyncIterable<TrackItem>,
  refuse: (problem: TrackProblem) => void,
): AsyncGenerator<TrackBatch, void, undefined> {
  const reading = items[Symbol.asyncIterator]();
  /** Goes on over the wait of a batch: what comes then is of the next one. */
  let coming: Promise<IteratorResult<TrackItem>> | undefined;
  let batch = createBatch();
  /** There is one as long as the batch holds something. */
  let wait: ReturnType<typeof startWait> | undefined;
  const take = (): TrackBatch => {
    const taken = batch.done();
    wait?.callOff();
    wait = undefined;
    batch = createBatch();
    return taken;
  };
  try {
    for (;;) {
      coming ??= reading.next();
      const came = await (wait ? Promise.race([coming, wait.end]) : coming);
      if (came === OVER) {
        yield take();
        continue;
      }
      coming = undefined;
      if (came.done) break;
      const item = came.value;
      const position = { array: item.array, index: item.index };
      const result = serialised(item.object);
      if ('reason' in result) {
        refuse({ position, reason: result.reason });
        continue;
      }
      const size = utf8Bytes(result.text) + 1;
      if (size + ENVELOPE_BYTES > MAX_BODY_BYTES) {
        refuse({ position, reason: `larger than a request may be (${MAX_BODY_BYTES} bytes)` });
        continue;
      }
      const users = userKeys(item.object);
      if (!batch.takes(item, result.text, size, users)) yield take();
      batch.add(item, result.text, size, users);
      wait ??= startWait();
    }
    if (wait) yield take();
  } finally {
    wait?.callOff();
    await reading.return?.();
  }
}
