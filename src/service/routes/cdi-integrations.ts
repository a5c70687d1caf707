import { FATAL, formatLink, INTEGRATIONS_PAGE_SIZE, INTEGRATIONS_PATH } from '../../protocol/index.ts';
import { HttpError } from '../http-error.ts';
import type { Route } from '../route.ts';

/** No list is longer; a larger number is no cursor of ours. */
const MAX_DIGITS = 12;

const cursorAt = (skip: number): string => Buffer.from(`skip:${skip}`).toString('base64');

/** How many records a cursor passes over. Both base64 alphabets, with or without padding; anything else is a 400. */
const skipOf = (cursor: string): number => {
  // A `+` that came unencoded in the query has become a space.
  const sent = cursor.replaceAll(' ', '+');
  const text = /^[\w+/-]+={0,2}$/.test(sent) ? Buffer.from(sent, 'base64').toString('latin1') : '';
  const digits = /^skip:(0|[1-9]\d*)$/.exec(text)?.[1] ?? '';
  const skip = digits !== '' && digits.length <= MAX_DIGITS ? Number(digits) : Number.NaN;
  if (Number.isNaN(skip) || skip % INTEGRATIONS_PAGE_SIZE !== 0)
    throw new HttpError(400, FATAL.invalidCursor);
  return skip;
};

export const cdiIntegrations: Route = {
  method: 'GET',
  path: INTEGRATIONS_PATH,
  permission: 'cdi.integration_list',
  errors: 'general',
  rate: 'general',
  limit: 'cdi_integrations',
  maxBodyBytes: 0,
  maxValues: 0,
  tooLarge: 413,
  answer: ({ workspace, query, metrics }) => {
    const cursor = query.get('cursor') ?? '';
    const skip = cursor === '' ? 0 : skipOf(cursor);
    const { integrations } = workspace;
    if (integrations === null) throw new HttpError(404, FATAL.noIntegrationList);
    const results = integrations.slice(skip, skip + INTEGRATIONS_PAGE_SIZE);
    const next = skip + INTEGRATIONS_PAGE_SIZE;
    // Past the end of a list that has shrunk there is a way back, to its last page.
    const last =
      Math.max(0, Math.ceil(integrations.length / INTEGRATIONS_PAGE_SIZE) - 1) * INTEGRATIONS_PAGE_SIZE;
    const link = formatLink({
      prev: skip > 0 ? cursorAt(Math.min(skip - INTEGRATIONS_PAGE_SIZE, last)) : undefined,
      next: next < integrations.length ? cursorAt(next) : undefined,
    });
    metrics.objects('integrations', results.length);
    return { status: 200, body: { results, message: 'success' }, ...(link && { headers: { Link: link } }) };
  },
};
