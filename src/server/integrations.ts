import {
  cursorOf,
  INTEGRATION_SYNC_PATH,
  INTEGRATIONS_PATH,
  type Integration,
  JOB_SYNC_STATUS_PATH,
  type JobSyncStatus,
  parseLink,
} from '../protocol/index.ts';
import { integrationsAnswer, jobSyncStatusAnswer } from '../protocol/schemas/index.ts';
import type { Call } from './call.ts';

type Schema<T> = {
  safeParse(
    body: unknown,
  ):
    | { success: true; data: { results: T[] } }
    | { success: false; error: { issues: { path: PropertyKey[]; message: string }[] } };
};

/**
 * All records of a list, page after page. A `Link` that leads to another origin, or to a page that was read already, is an
 * error: what came so far would look like the whole list.
 */
async function* listAll<T>(
  call: Call,
  endpoint: string,
  path: string,
  schema: Schema<T>,
  signal?: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  const seen = new Set<string>();
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const answer = await call({
      method: 'GET',
      path,
      ...(cursor !== '' && { query: { cursor } }),
      resetKind: 'epoch',
      repeatable: true,
      signal,
    });
    const page = schema.safeParse(answer.body);
    if (!page.success) {
      const [issue] = page.error.issues;
      throw new Error(`GET ${path} answered no list: ${issue?.path.join('.')}: ${issue?.message}`);
    }
    seen.add(cursor);
    yield* page.data.results;
    const next = parseLink(answer.headers.get('link'))['next'];
    if (next === undefined) return;
    cursor = cursorOf(next, endpoint);
    if (cursor === undefined) throw new Error(`The next page of ${path} is not on ${endpoint}: ${next}`);
    if (seen.has(cursor)) throw new Error(`The list of ${path} does not end: cursor ${cursor} came twice`);
  }
}

const pathOf = (template: string, integrationId: string) =>
  template.replace('{integration_id}', encodeURIComponent(integrationId));

export interface IntegrationCalls {
  /** All data-ingestion integrations, page after page. Throws `ApiError`: 404 where ingestion is not set up. */
  integrations(more?: { signal?: AbortSignal }): AsyncGenerator<Integration, void, undefined>;
  /**
   * Asks for a run of an integration, which begins soon after. Throws `ApiError`: 404 where there is none, or it cannot be run;
   * 429 where a run is queued or under way.
   */
  syncIntegration(integrationId: string, more?: { signal?: AbortSignal }): Promise<void>;
  /** The runs of an integration, newest first, page after page. Throws `ApiError`: 404 where there is none. */
  integrationRuns(
    integrationId: string,
    more?: { signal?: AbortSignal },
  ): AsyncGenerator<JobSyncStatus, void, undefined>;
}

export const createIntegrationCalls = (call: Call, endpoint: string): IntegrationCalls => ({
  integrations: ({ signal } = {}) => listAll(call, endpoint, INTEGRATIONS_PATH, integrationsAnswer, signal),

  async syncIntegration(integrationId, { signal } = {}) {
    await call({
      method: 'POST',
      path: pathOf(INTEGRATION_SYNC_PATH, integrationId),
      resetKind: 'epoch',
      repeatable: false,
      // To wait until another run has ended is for the caller to decide.
      maxAttempts: 1,
      signal,
    });
  },

  integrationRuns: (integrationId, { signal } = {}) =>
    listAll(call, endpoint, pathOf(JOB_SYNC_STATUS_PATH, integrationId), jobSyncStatusAnswer, signal),
});
