import {
  ERROR_MESSAGES,
  errorBody,
  formatLink,
  INTEGRATIONS_PAGE_SIZE,
  type Integration,
} from '../protocol/index.ts';
import type { IntegrationsResponse } from '../protocol/schemas/index.ts';
import type { FakeResponse } from './fake-response.ts';

const cursorTo = (skip: number): string => btoa(`skip:${skip}`);

/** Decodes a cursor to the number of records to skip. Accepts both base64 alphabets, with or without padding. */
const parseSkip = (cursor: string): number | undefined => {
  // An unencoded `+` in the query arrives as a space.
  const sent = cursor.replaceAll(' ', '+');
  if (!/^[\w+/-]+={0,2}$/.test(sent)) return undefined;
  try {
    const text = atob(sent.replaceAll('-', '+').replaceAll('_', '/'));
    const skip = Number(/^skip:(0|[1-9]\d{0,11})$/.exec(text)?.[1]);
    return skip % INTEGRATIONS_PAGE_SIZE === 0 ? skip : undefined;
  } catch {
    // Invalid base64 is treated like any invalid cursor.
    return undefined;
  }
};

/** Handles `cdi/integrations`: ten per page, with `Link` to the adjacent pages; `null` if ingestion is not set up. */
export const respondToIntegrations = (
  cursor: string | null,
  integrations: Integration[] | null,
): FakeResponse => {
  if (integrations === null)
    return { status: 404, body: errorBody('general', ERROR_MESSAGES.noIntegrationList) };
  const skip = cursor ? parseSkip(cursor) : 0;
  if (skip === undefined) return { status: 400, body: errorBody('general', ERROR_MESSAGES.invalidCursor) };
  const end = skip + INTEGRATIONS_PAGE_SIZE;
  const last =
    Math.max(0, Math.ceil(integrations.length / INTEGRATIONS_PAGE_SIZE) - 1) * INTEGRATIONS_PAGE_SIZE;
  const link = formatLink({
    // After the end, `prev` is the last page.
    prev: skip > 0 ? cursorTo(Math.min(skip - INTEGRATIONS_PAGE_SIZE, last)) : undefined,
    next: end < integrations.length ? cursorTo(end) : undefined,
  });
  const body: IntegrationsResponse = { results: integrations.slice(skip, end), message: 'success' };
  return { status: 200, body, ...(link !== undefined && { headers: { Link: link } }) };
};
