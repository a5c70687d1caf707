import {
  type AttributesObject,
  type EventObject,
  INPUT_ARRAYS,
  type InputArray,
  isInputArray,
  type PurchaseObject,
} from '../protocol/index.ts';
import type { TrackItem } from './track-batches.ts';

export type Many<T> = Iterable<T> | AsyncIterable<T>;

/** With members of any other name, or described by an interface: that has no index signature. */
type Row<T> = T | { [Name in keyof T as string extends Name ? never : Name]: T[Name] };

/** Any number of objects: arrays, generators, streams. Attributes go first, then events, then purchases. */
export interface TrackInput {
  attributes?: Many<Row<AttributesObject>>;
  events?: Many<Row<EventObject>>;
  purchases?: Many<Row<PurchaseObject>>;
}

/** Passes on what comes, and ends with the signal's reason also while nothing comes. */
async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  // One listener for all items: a promise that outlives them would keep something for each.
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
    // Not awaited: a source that is silent ends when its next item comes, if it ever does.
    if (!isOver) iterator.return?.().catch(() => undefined);
  }
}

/** An object of a mixed stream, such as a line of a file. */
export interface TrackObject {
  array: InputArray;
  object: Row<AttributesObject> | Row<EventObject> | Row<PurchaseObject>;
  /** The index that reports give it. Default its position in the stream. */
  index?: number;
}

async function* itemsOfArrays(input: TrackInput): AsyncGenerator<TrackItem> {
  for (const array of INPUT_ARRAYS) {
    let index = 0;
    for await (const object of input[array] ?? []) yield { array, index: index++, object };
  }
}

async function* itemsOfStream(stream: Many<TrackObject>): AsyncGenerator<TrackItem> {
  let position = 0;
  for await (const { array, object, index = position } of stream) {
    yield { array, index, object };
    position += 1;
  }
}

const isMany = (value: unknown): value is Many<unknown> =>
  typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value);

const isStream = (input: TrackInput | Many<TrackObject>): input is Many<TrackObject> => isMany(input);

/** A misspelt name would send nothing, and report that all is well; of a single object there is nothing to iterate. */
const checkInput = (input: TrackInput | Many<TrackObject>): void => {
  if (typeof input !== 'object' || input === null) {
    throw new TypeError(`track needs an object or a stream of objects, not ${input}`);
  }
  const unknown = isStream(input) ? undefined : Object.keys(input).find((name) => !isInputArray(name));
  if (unknown !== undefined) {
    throw new TypeError(`track knows ${INPUT_ARRAYS.join(', ')}, not '${unknown}'`);
  }
  if (isStream(input)) return;
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined || value === null || isMany(value)) continue;
    throw new TypeError(`track takes '${name}' as an array or a stream, not as ${typeof value}`);
  }
};

/**
 * Reads the objects one by one until `signal` aborts. `read` has the index after the last of each array. Throws a `TypeError`
 * where the input cannot be one.
 */
export const readTrackInput = (input: TrackInput | Many<TrackObject>, signal: AbortSignal) => {
  checkInput(input);
  const read: Record<InputArray, number> = { attributes: 0, events: 0, purchases: 0 };
  async function* items(): AsyncGenerator<TrackItem> {
    const given = isStream(input) ? itemsOfStream(input) : itemsOfArrays(input);
    for await (const item of untilAborted(given, signal)) {
      read[item.array] = item.index + 1;
      yield item;
    }
  }
  return { items: items(), read };
};
