import { cursorOf, INTEGRATIONS_PATH, type Integration, parseLink } from '../protocol/index.ts';
import { integrationsAnswer } from '../protocol/schemas/index.ts';
import type { Call } from './call.ts';

/**
 * All integrations of the workspace, page after page. A `Link` that leads to another origin, or to a page that was read
 * already, is an error: what came so far would look like the whole list.
 */
export async function* listIntegrations(
  call: Call,
  endpoint: string,
  signal?: AbortSignal,
): AsyncGenerator<Integration, void, undefined> {
  const seen = new Set<string>();
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const answer = await call({
      method: 'GET',
      path: INTEGRATIONS_PATH,
      ...(cursor !== '' && { query: { cursor } }),
      resetKind: 'epoch',
      repeatable: true,
      signal,
    });
    const page = integrationsAnswer.safeParse(answer.body);
    if (!page.success) {
      const [issue] = page.error.issues;
      throw new Error(
        `GET ${INTEGRATIONS_PATH} answered no integration list: ${issue?.path.join('.')}: ${issue?.message}`,
      );
    }
    seen.add(cursor);
    yield* page.data.results;
    const next = parseLink(answer.headers.get('link'))['next'];
    if (next === undefined) return;
    cursor = cursorOf(next, endpoint);
    if (cursor === undefined) throw new Error(`The next page of integrations is not on ${endpoint}: ${next}`);
    if (seen.has(cursor)) throw new Error(`The integration list does not end: cursor ${cursor} came twice`);
  }
}
