import { isRecord, MAX_PROFILE_ENTRIES } from '../../protocol/index.ts';
import { HttpError } from '../http-error.ts';

/** A refusal that names the array and the entry at fault. */
export const refuseEntry = (type: string, array: string, index: number): HttpError =>
  new HttpError(400, type, { members: { errors: [{ type, input_array: array, index }] } });

/** An array of at most 50 objects, `undefined` where it was not sent. Throws the refusal. */
export const entriesOf = (
  body: unknown,
  name: string,
  tooMany = 'Max Input Length Exceeded',
): Record<string, unknown>[] | undefined => {
  const value = isRecord(body) && Object.hasOwn(body, name) ? body[name] : undefined;
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || !value.every(isRecord)) {
    throw new HttpError(400, `'${name}' must be an array of objects`);
  }
  if (value.length > MAX_PROFILE_ENTRIES) throw new HttpError(400, tooMany);
  return value;
};
