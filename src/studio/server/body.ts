import * as z from 'zod';
import { type Exchange, HttpError, hasMoreValues } from '../../service/index.ts';

/** Ten times an ordinary campaign. */
const MAX_BODY_BYTES = 64 * 1024;
/** A list of all IDs that fit has six thousand. Each value may have a fault, and each fault a sentence in the answer. */
const MAX_VALUES = 8_000;
const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

/** The body as JSON, `undefined` where there is none. JSON alone: a form of another site can send no such type. */
export const readJsonBody = async (exchange: Exchange): Promise<unknown> => {
  const bytes = await exchange.body(MAX_BODY_BYTES);
  if (bytes === null) throw new HttpError(413, 'The request is too large: 64 KB are the most');
  if (bytes.byteLength === 0) return undefined;
  if (!JSON_TYPE.test(exchange.header('content-type') ?? '')) throw new HttpError(415, 'Expected JSON');
  if (hasMoreValues(bytes, MAX_VALUES)) {
    throw new HttpError(413, 'The request holds too many values: 8,000 are the most');
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    // What the parser says would quote the body.
    throw new HttpError(400, 'Expected JSON that can be parsed');
  }
};

/** The body as its schema has it, or a refusal that names what is wrong with it. */
export const bodyOf = <Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> => {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw new HttpError(400, z.prettifyError(parsed.error));
  return parsed.data;
};
