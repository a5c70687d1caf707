import {
  findCursor,
  INTEGRATION_SYNC_PATH,
  INTEGRATIONS_PATH,
  type Integration,
  JOB_SYNC_STATUS_PATH,
  type JobSyncStatus,
  parseLink,
} from '../protocol/index.ts';
import { integrationsResponse, jobSyncStatusResponse } from '../protocol/schemas/index.ts';
import type { Call } from './call.ts';

type Schema<T> = {
  safeParse(
    body: unknown,
  ):
    | { success: true; data: { results: T[] } }
    | { success: false; error: { issues: { path: PropertyKey[]; message: string }[] } };
};

/**
 * Lists all pages. Throws if a `Link` leads to another origin or to a page already read, because the list would otherwise look
 * complete.
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
    const response = await call({
      method: 'GET',
      path,
      ...(cursor !== '' && { query: { cursor } }),
      resetKind: 'epoch',
      idempotent: true,
      signal,
    });
    const page = schema.safeParse(response.body);
    if (!page.success) {
      const [issue] = page.error.issues;
      throw new Error(`GET ${path} returned an invalid list: ${issue?.path.join('.')}: ${issue?.message}`);
    }
    seen.add(cursor);
    yield* page.data.results;
    const next = parseLink(response.headers.get('link'))['next'];
    if (next === undefined) return;
    cursor = findCursor(next, endpoint);
    if (cursor === undefined) throw new Error(`the next page of ${path} is not on ${endpoint}: ${next}`);
    if (seen.has(cursor)) throw new Error(`the list of ${path} repeats cursor ${cursor}`);
  }
}

const toPath = (template: string, integrationId: string) =>
  template.replace('{integration_id}', encodeURIComponent(integrationId));

export interface IntegrationCalls {
  /** Lists all data-ingestion integrations. Throws `ApiError` (404 if ingestion is not set up). */
  integrations(more?: { signal?: AbortSignal | undefined }): AsyncGenerator<Integration, void, undefined>;
  /** Queues a run of an integration. Throws `ApiError` (404 if unknown or without a source, 429 if a run is queued or active). */
  syncIntegration(integrationId: string, more?: { signal?: AbortSignal | undefined }): Promise<void>;
  /** Lists the runs of an integration, newest first. Throws `ApiError` (404 if unknown). */
  integrationRuns(
    integrationId: string,
    more?: { signal?: AbortSignal | undefined },
  ): AsyncGenerator<JobSyncStatus, void, undefined>;
}

export const createIntegrationCalls = (call: Call, endpoint: string): IntegrationCalls => ({
  integrations: ({ signal } = {}) => listAll(call, endpoint, INTEGRATIONS_PATH, integrationsResponse, signal),

  async syncIntegration(integrationId, { signal } = {}) {
    await call({
      method: 'POST',
      path: toPath(INTEGRATION_SYNC_PATH, integrationId),
      resetKind: 'epoch',
      idempotent: false,
      maxAttempts: 1,
      signal,
    });
  },

  integrationRuns: (integrationId, { signal } = {}) =>
    listAll(call, endpoint, toPath(JOB_SYNC_STATUS_PATH, integrationId), jobSyncStatusResponse, signal),
});
