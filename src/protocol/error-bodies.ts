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

/** The members that a client reads of a refusal. */
export interface Refusal {
  /** For people, where the body has such a text. */
  text: string | undefined;
  /** Entries that name what was at fault; none where the body has no such list. */
  errors: unknown[];
}

/** Reads a refusal of any endpoint: every member may be missing, and a proxy may answer something else. */
export const readRefusal = (body: unknown): Refusal => {
  const { message, error, errors } = Object(body) as Record<string, unknown>;
  return {
    text: [message, error].find((text) => typeof text === 'string'),
    errors: Array.isArray(errors) ? errors : [],
  };
};
