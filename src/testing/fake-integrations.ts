import {
  errorBody,
  formatLink,
  INTEGRATIONS_PAGE_SIZE,
  type Integration,
  type IntegrationsAnswer,
} from '../protocol/index.ts';
import type { FakeAnswer } from './fake-answer.ts';

const cursorTo = (skip: number): string => btoa(`skip:${skip}`);

const skipOf = (cursor: string): number | undefined => {
  try {
    const skip = Number(/^skip:(\d+)$/.exec(atob(cursor))?.[1]);
    return Number.isSafeInteger(skip) && skip % INTEGRATIONS_PAGE_SIZE === 0 ? skip : undefined;
  } catch {
    // Not base64: as bad a cursor as any other.
    return undefined;
  }
};

/** `cdi/integrations`: ten a page, `Link` to the pages beside; `null` where ingestion is not set up. */
export const answerIntegrations = (cursor: string | null, integrations: Integration[] | null): FakeAnswer => {
  if (integrations === null) return { status: 404, body: errorBody('general', 'Integration list not found') };
  const skip = cursor ? skipOf(cursor) : 0;
  if (skip === undefined) return { status: 400, body: errorBody('general', 'Invalid cursor') };
  const end = skip + INTEGRATIONS_PAGE_SIZE;
  const link = formatLink({
    prev: skip > 0 ? cursorTo(skip - INTEGRATIONS_PAGE_SIZE) : undefined,
    next: end < integrations.length ? cursorTo(end) : undefined,
  });
  const body: IntegrationsAnswer = { results: integrations.slice(skip, end), message: 'success' };
  return { status: 200, body, ...(link !== undefined && { headers: { Link: link } }) };
};
