import * as z from 'zod';
import { isStorableText } from '../../protocol/index.ts';

/** `null` means the same as absent, everywhere in the file. */
export const optional = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? undefined);

/** A date and time with its offset. Gives Unix milliseconds. */
export const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

/** What goes into a database must be text that every store can hold. */
export const text = z
  .string()
  .min(1)
  .refine(isStorableText, { error: 'expected text without U+0000 and half characters' });
export const named = optional(z.string()).describe('For people');
