import {
  ERROR_MESSAGES,
  errorBody,
  formatLink,
  INTEGRATIONS_PAGE_SIZE,
  type Integration,
  type IntegrationsAnswer,
} from '../protocol/index.ts';
import type { FakeAnswer } from './fake-endpoints.ts';

const cursorTo = (skip: number): string => btoa(`skip:${skip}`);

/** How many records a cursor passes over: both base64 alphabets, with or without padding. */
const skipOf = (cursor: string): number | undefined => {
  // A `+` that came unencoded in the query has become a space.
  const sent = cursor.replaceAll(' ', '+');
  if (!/^[\w+/-]+={0,2}$/.test(sent)) return undefined;
  try {
    const text = atob(sent.replaceAll('-', '+').replaceAll('_', '/'));
    const skip = Number(/^skip:(0|[1-9]\d{0,11})$/.exec(text)?.[1]);
    return skip % INTEGRATIONS_PAGE_SIZE === 0 ? skip : undefined;
  } catch {
    // Not base64: as bad a cursor as any other.
    return undefined;
  }
};

/** `cdi/integrations`: ten a page, `Link` to the pages beside; `null` where ingestion is not set up. */
export const answerIntegrations = (cursor: string | null, integrations: Integration[] | null): FakeAnswer => {
  if (integrations === null)
    return { status: 404, body: errorBody('general', ERROR_MESSAGES.noIntegrationList) };
  const skip = cursor ? skipOf(cursor) : 0;
  if (skip === undefined) return { status: 400, body: errorBody('general', ERROR_MESSAGES.invalidCursor) };
  const end = skip + INTEGRATIONS_PAGE_SIZE;
  const last =
    Math.max(0, Math.ceil(integrations.length / INTEGRATIONS_PAGE_SIZE) - 1) * INTEGRATIONS_PAGE_SIZE;
  const link = formatLink({
    // Past the end there is a way back, to the last page.
    prev: skip > 0 ? cursorTo(Math.min(skip - INTEGRATIONS_PAGE_SIZE, last)) : undefined,
    next: end < integrations.length ? cursorTo(end) : undefined,
  });
  const body: IntegrationsAnswer = { results: integrations.slice(skip, end), message: 'success' };
  return { status: 200, body, ...(link !== undefined && { headers: { Link: link } }) };
};
