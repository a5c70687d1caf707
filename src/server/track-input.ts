import {
  type AttributesObject,
  type EventObject,
  INPUT_ARRAYS,
  type InputArray,
  isInputArray,
  type PurchaseObject,
} from '../protocol/index.ts';
import type { TrackItem } from './track-batches.ts';

export type AnyIterable<T> = Iterable<T> | AsyncIterable<T>;

/** Row type that also accepts interfaces, which have no index signature. */
type Row<T> = T | { [Name in keyof T as string extends Name ? never : Name]: T[Name] };

/** Arrays, generators or streams of objects, sent in this order: attributes, events, purchases. */
export interface TrackInput {
  attributes?: AnyIterable<Row<AttributesObject>> | undefined;
  events?: AnyIterable<Row<EventObject>> | undefined;
  purchases?: AnyIterable<Row<PurchaseObject>> | undefined;
}

/** Yields the items of the source. Throws the reason of the signal, even while the source is silent. */
async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  // One listener for all items, because a promise per item would leak.
  let abort: (reason: unknown) => void = () => undefined;
  const onAbort = () => abort(signal.reason);
  const next = () =>
    new Promise<IteratorResult<T>>((resolve, reject) => {
      abort = reject;
      iterator.next().then(resolve, reject);
    });
  let isOver = false;
  signal.addEventListener('abort', onAbort);
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await next();
      isOver = done === true;
      if (isOver) return;
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    // Not awaited, because a silent source never returns.
    if (!isOver) iterator.return?.().catch(() => undefined);
  }
}

/** Object of a mixed stream, such as a line of a file. */
export interface TrackObject {
  array: InputArray;
  object: Row<AttributesObject> | Row<EventObject> | Row<PurchaseObject>;
  /** Index to use in reports. Default: position in the stream. */
  index?: number;
}

async function* readArrays(input: TrackInput): AsyncGenerator<TrackItem> {
  for (const array of INPUT_ARRAYS) {
    let index = 0;
    for await (const object of input[array] ?? []) yield { array, index: index++, object };
  }
}

async function* readStream(stream: AnyIterable<TrackObject>): AsyncGenerator<TrackItem> {
  let position = 0;
  for await (const { array, object, index = position } of stream) {
    yield { array, index, object };
    position += 1;
  }
}

const isIterable = (value: unknown): value is AnyIterable<unknown> =>
  typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value);

const isStream = (input: TrackInput | AnyIterable<TrackObject>): input is AnyIterable<TrackObject> =>
  isIterable(input);

const checkInput = (input: TrackInput | AnyIterable<TrackObject>): void => {
  if (typeof input !== 'object' || input === null) {
    throw new TypeError(`track: expected an object or a stream of objects, got ${input}`);
  }
  const unknown = isStream(input) ? undefined : Object.keys(input).find((name) => !isInputArray(name));
  if (unknown !== undefined) {
    throw new TypeError(`track: expected ${INPUT_ARRAYS.join(', ')}, got '${unknown}'`);
  }
  if (isStream(input)) return;
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined || value === null || isIterable(value)) continue;
    throw new TypeError(`track: expected '${name}' to be an array or a stream, got ${typeof value}`);
  }
};

/** Reads objects until `signal` aborts. `read` has the next index of each array. Throws `TypeError` if the input is invalid. */
export const readTrackInput = (input: TrackInput | AnyIterable<TrackObject>, signal: AbortSignal) => {
  checkInput(input);
  const read: Record<InputArray, number> = { attributes: 0, events: 0, purchases: 0 };
  async function* items(): AsyncGenerator<TrackItem> {
    const given = isStream(input) ? readStream(input) : readArrays(input);
    for await (const item of untilAborted(given, signal)) {
      read[item.array] = item.index + 1;
      yield item;
    }
  }
  return { items: items(), read };
};
