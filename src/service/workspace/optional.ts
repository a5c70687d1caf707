import type * as z from 'zod';

/** `null` means the same as absent, everywhere in the file. */
export const optional = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? undefined);
