import * as z from 'zod';
import { HttpError } from '../../service/index.ts';

/** The body as its schema has it, or a refusal that names what is wrong with it. */
export const bodyOf = <Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> => {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw new HttpError(400, z.prettifyError(parsed.error));
  return parsed.data;
};
