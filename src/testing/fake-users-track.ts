import {
  INPUT_ARRAYS,
  type InputArray,
  MAX_TRACK_OBJECTS,
  required,
  type TrackErrorEntry,
} from '../protocol/index.ts';
import { type FakeAnswer, type ForcedErrors, isRecord } from './fake-answer.ts';

const IDENTIFIERS = ['external_id', 'braze_id', 'user_alias', 'email', 'phone'];
const NO_IDENTIFIER = "'external_id', 'braze_id', 'user_alias', 'email' or 'phone' is required";
const NO_VALID_DATA = "Valid data must be provided in the 'attributes', 'events', or 'purchases' fields.";
const REQUIRED: Record<InputArray, string[]> = {
  attributes: [],
  events: ['name', 'time'],
  purchases: ['product_id', 'currency', 'price', 'time'],
};

/** An object of `users/track` as the fake took it. */
export interface TakenObject {
  array: InputArray;
  object: Record<string, unknown>;
}

const faultOf = (array: InputArray, object: unknown): string | undefined => {
  if (!isRecord(object) || !IDENTIFIERS.some((name) => object[name] != null && object[name] !== '')) {
    return NO_IDENTIFIER;
  }
  const missing = REQUIRED[array].find((name) => object[name] === undefined || object[name] === null);
  return missing === undefined ? undefined : required(missing);
};

const refuse = (message: string, errors: unknown[] = [{ type: message }]): FakeAnswer => ({
  status: 400,
  body: { message, errors },
});

/**
 * `users/track`: the 75 objects, identifiers and required members. The rules of single attributes are the real
 * service's. `skip` of a fault counts over attributes, events and purchases, in this order.
 */
export const answerUsersTrack = (
  body: unknown,
  store: (objects: TakenObject[]) => void,
  forced: ForcedErrors,
): FakeAnswer => {
  if (!isRecord(body)) return refuse(NO_VALID_DATA);
  const wrong = INPUT_ARRAYS.find((array) => body[array] != null && !Array.isArray(body[array]));
  if (wrong !== undefined) return refuse(`'${wrong}' must be an array of objects`);
  const sent = INPUT_ARRAYS.flatMap((array) =>
    ((body[array] as unknown[] | undefined) ?? []).map((object, index) => ({ array, index, object })),
  );
  if (sent.length > MAX_TRACK_OBJECTS) return refuse('Max Input Length Exceeded');

  const errors: TrackErrorEntry[] = [];
  const taken: TakenObject[] = [];
  for (const [position, { array, index, object }] of sent.entries()) {
    const type = forced.skip?.indices.includes(position) ? forced.skip.reason : faultOf(array, object);
    if (type === undefined) taken.push({ array, object: object as Record<string, unknown> });
    else errors.push({ type, input_array: array, index });
  }
  if (taken.length === 0) return refuse(NO_VALID_DATA, errors.length > 0 ? errors : undefined);
  store(taken);
  const counts = INPUT_ARRAYS.filter((array) => body[array] != null).map((array) => [
    `${array}_processed`,
    taken.filter((object) => object.array === array).length,
  ]);
  const answered = forced.raw?.errors ?? errors;
  return {
    status: 201,
    body: {
      message: 'success',
      ...Object.fromEntries(counts),
      ...(answered.length > 0 && { errors: answered }),
    },
  };
};
