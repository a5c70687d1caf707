import * as z from 'zod';
import {
  ERROR_MESSAGES,
  isRecord,
  MAX_BODY_BYTES,
  MAX_PROFILE_ENTRIES,
  MAX_PROFILE_VALUES,
  notValid,
  required,
} from '../../protocol/index.ts';
import { serverBody } from '../api/route.ts';
import type { RequestBody } from '../http/body.ts';
import { HttpError } from '../http/http-request.ts';

/** Description of the 400 response of the profile endpoints. */
export const BAD_ENTRIES = `An entry has the wrong shape, or there are more than ${MAX_PROFILE_ENTRIES}.`;

export const entries = <Entry extends z.ZodType>(entry: Entry) => z.array(entry).max(MAX_PROFILE_ENTRIES);

/** First error of a body. */
export interface BodyError {
  /** `[]` for the body itself, `['merge_updates', 0]` for an entry. */
  path: readonly PropertyKey[];
  /** Whether the body has more than 50 entries, which are then not checked. */
  isTooMany: boolean;
  value: unknown;
  /** Message of a custom schema rule. */
  message: string | undefined;
}

const valueAt = (body: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((value, step) => Object(value)[step], body);

const isLong = (value: unknown): boolean => Array.isArray(value) && value.length > MAX_PROFILE_ENTRIES;

/** Creates a body reader from a schema. `toHttpError` converts the first error of the schema. */
export const profileBody = <Schema extends z.ZodObject>(
  schema: Schema,
  toHttpError: (error: BodyError) => HttpError,
): RequestBody<z.output<Schema>> =>
  serverBody(
    {
      schema,
      read(sent) {
        if (!isRecord(sent)) throw new HttpError(400, ERROR_MESSAGES.notAnObject);
        const tooMany = Object.keys(sent).find((name) => name in schema.shape && isLong(sent[name]));
        if (tooMany !== undefined) {
          throw toHttpError({ path: [tooMany], isTooMany: true, value: sent[tooMany], message: undefined });
        }
        const parsed = schema.safeParse(sent);
        if (parsed.success) return parsed.data;
        const issue = parsed.error.issues[0]!;
        const message: unknown = issue.code === 'custom' ? issue.params?.['message'] : undefined;
        throw toHttpError({
          path: issue.path,
          isTooMany: false,
          value: valueAt(sent, issue.path),
          message: typeof message === 'string' ? message : undefined,
        });
      },
    },
    { maxBytes: MAX_BODY_BYTES, maxValues: MAX_PROFILE_VALUES },
  );

/** Returns an error with the array's name and the entry's index. */
export const invalidEntry = (message: string, array: string, index: number): HttpError =>
  new HttpError(400, message, { members: { errors: [{ type: message, input_array: array, index }] } });

/** Returns the error of a body whose entries are objects in arrays. */
export const invalidArrayEntry = ({ path, isTooMany, value, message }: BodyError): HttpError => {
  const [array, index, member] = path;
  const isMissing = value == null;
  if (isTooMany) return new HttpError(400, ERROR_MESSAGES.tooManyObjects);
  if (array === undefined) return new HttpError(400, message ?? ERROR_MESSAGES.notAnObject);
  if (isMissing && index === undefined) return new HttpError(400, required(String(array)));
  if (member === undefined) return new HttpError(400, `'${String(array)}' must be an array of objects`);
  const text = message ?? (isMissing ? required(String(member)) : notValid(String(member)));
  return invalidEntry(text, String(array), Number(index));
};
