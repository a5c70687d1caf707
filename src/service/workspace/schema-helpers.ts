import * as z from 'zod';
import { isStorableText } from '../../protocol/index.ts';

/** Makes a schema optional. Treats `null` as absent, as everywhere in the file. */
export const optional = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? undefined);

/** Schema of an ISO 8601 date and time with an offset, parsed to Unix milliseconds. */
export const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

/** Schema of a text that every store can contain. */
export const text = z
  .string()
  .min(1)
  .refine(isStorableText, { error: 'expected text without U+0000 and half characters' });
export const named = optional(z.string()).describe('Display name');
