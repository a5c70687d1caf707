import * as z from 'zod/mini';

/**
 * Which body an endpoint answers when it refuses a request.
 * `general`: `{ message, errors: [{ type }] }` · `sync`: `{ error }` · `track`: `{ message }` and, where single
 * events were at fault, `errors`.
 */
export type ErrorDialect = 'general' | 'sync' | 'track';

export const errorBody = (dialect: ErrorDialect, text: string): Record<string, unknown> => {
  if (dialect === 'sync') return { error: text };
  if (dialect === 'track') return { message: text };
  return { message: text, errors: [{ type: text }] };
};

/** What a client reads of any refusal: every member may be missing, and a proxy may answer something else. */
export const refusal = z.object({
  message: z.optional(z.string()),
  error: z.optional(z.string()),
  errors: z.optional(z.array(z.unknown())),
});
export type Refusal = z.infer<typeof refusal>;
