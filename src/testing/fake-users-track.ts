import {
  ERROR_MESSAGES,
  INPUT_ARRAYS,
  type InputArray,
  isRecord,
  MAX_TRACK_OBJECTS,
  type TrackErrorEntry,
} from '../protocol/index.ts';
import { readAttributesUser, readUserEvent } from '../protocol/schemas/index.ts';
import type { FakeResponse, ForcedErrors } from './fake-response.ts';

/** Problems of a `users/track` object, and whether the object is accepted despite them. */
export interface ObjectResult {
  problems: string[];
  isTaken: boolean;
}

const NO_USER_IS_BLOCKED: ReadonlySet<string> = new Set();

/** Validates an object like the service, except for attribute values. */
const validateObject = (array: InputArray, object: unknown): ObjectResult => {
  const problems: string[] = [];
  const faults = { add: (type: string) => problems.push(type) };
  const read =
    array === 'attributes'
      ? readAttributesUser(object, NO_USER_IS_BLOCKED, faults)
      : readUserEvent(object, array, NO_USER_IS_BLOCKED, faults);
  return { problems, isTaken: read !== null };
};

/** Accepted object of `users/track`. */
export interface AcceptedObject {
  array: InputArray;
  object: Record<string, unknown>;
}

const refuse = (message: string, errors: unknown[] = [{ type: message }]): FakeResponse => ({
  status: 400,
  body: { message, errors },
});

const toArray = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/**
 * Handles `users/track`: validates the limit of 75 objects, identifiers and required properties. Indices in a fault's `skip`
 * count across attributes, events and purchases, in this order. A fault's `processed` is returned for each array that was sent.
 */
export const respondToUsersTrack = (
  body: unknown,
  store: (objects: AcceptedObject[]) => void,
  forced: ForcedErrors,
): FakeResponse => {
  if (!isRecord(body)) return refuse(ERROR_MESSAGES.noValidData);
  const wrong = INPUT_ARRAYS.find((array) => body[array] != null && !Array.isArray(body[array]));
  if (wrong !== undefined) return refuse(`'${wrong}' must be an array of objects`);
  const sent = INPUT_ARRAYS.flatMap((array) =>
    toArray(body[array]).map((object, index) => ({ array, index, object })),
  );
  if (sent.length > MAX_TRACK_OBJECTS) return refuse(ERROR_MESSAGES.tooManyObjects);

  const errors: TrackErrorEntry[] = [];
  const taken: AcceptedObject[] = [];
  for (const [position, { array, index, object }] of sent.entries()) {
    const { problems, isTaken } = forced.skip?.indices.includes(position)
      ? { problems: [forced.skip.reason], isTaken: false }
      : validateObject(array, object);
    if (isTaken && isRecord(object)) taken.push({ array, object });
    errors.push(...problems.map((type) => ({ type, input_array: array, index })));
  }
  if (taken.length === 0) return refuse(ERROR_MESSAGES.noValidData, errors.length > 0 ? errors : undefined);
  store(taken);
  const counts = INPUT_ARRAYS.filter((array) => body[array] != null).map((array) => [
    `${array}_processed`,
    forced.raw?.processed ?? taken.filter((object) => object.array === array).length,
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
