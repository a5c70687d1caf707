import * as z from 'zod/mini';
import {
  ERROR_MESSAGES,
  formatLink,
  INTEGRATION_SYNC_PATH,
  INTEGRATIONS_PAGE_SIZE,
  INTEGRATIONS_PATH,
  type Integration,
  JOB_SYNC_STATUS_PATH,
  type JobSyncStatus,
} from '../../protocol/index.ts';
import { described, integrationsResponse, jobSyncStatusResponse } from '../../protocol/schemas/index.ts';
import { defineRoute } from '../api/route.ts';
import { HttpError } from '../http/http-request.ts';
import type { IngestionRun, IngestionState } from '../integrations/ingestion-records.ts';
import { stampText } from '../integrations/ingestion-records.ts';
import { nextRunMs } from '../integrations/schedule.ts';
import type { Workspace, WorkspaceIntegration } from '../workspace/workspace.ts';

/** Maximum digits of a cursor. No list is long enough for more. */
const MAX_DIGITS = 12;

const cursorAt = (skip: number): string => Buffer.from(`skip:${skip}`).toString('base64');

/** Returns the offset of a cursor, or `NaN` if it is invalid. Accepts both base64 alphabets, with or without padding. */
const parseCursor = (cursor: string): number => {
  if (cursor === '') return 0;
  // An unencoded `+` in the query decodes to a space.
  const sent = cursor.replaceAll(' ', '+');
  const text = /^[\w+/-]+={0,2}$/.test(sent) ? Buffer.from(sent, 'base64').toString('latin1') : '';
  const digits = /^skip:(0|[1-9]\d*)$/.exec(text)?.[1] ?? '';
  const skip = digits !== '' && digits.length <= MAX_DIGITS ? Number(digits) : Number.NaN;
  return skip % INTEGRATIONS_PAGE_SIZE === 0 ? skip : Number.NaN;
};

/** Query of a paged list. `cursor` becomes the offset of the page. */
const pageQuery = z.object({
  cursor: z.pipe(
    z.optional(z.string().check(described('Opaque value from a `Link` header.'))),
    z.transform((cursor = '', context) => {
      const skip = parseCursor(cursor);
      if (Number.isNaN(skip))
        context.issues.push({ code: 'custom', message: ERROR_MESSAGES.invalidCursor, input: cursor });
      return skip;
    }),
  ),
});

const formatIso = (ms: number | null | undefined): string => (ms == null ? '' : new Date(ms).toISOString());

/** Returns `Running`, `Success`, `Partial` or `Error`, as in the contract. */
const statusText = ({ status }: IngestionRun): string => `${status[0]!.toUpperCase()}${status.slice(1)}`;

/** Returns an integration for the list. Integrations that do not run appear as described in the file. */
export const toIntegrationRecord = (
  { record, source, schedule }: WorkspaceIntegration,
  state: IngestionState | undefined,
  last: IngestionRun | undefined,
  nowMs: number,
): Integration => {
  if (source === null) return record;
  // The first run is due immediately.
  const next =
    state && state.lastStartedAtMs > 0 ? nextRunMs(schedule, Math.min(state.lastStartedAtMs, nowMs)) : nowMs;
  return {
    ...record,
    integration_status: schedule.kind === 'paused' ? 'paused' : 'active',
    last_updated_at: formatIso(last?.finishedAtMs),
    last_job_start_time: formatIso(last?.startedAtMs),
    last_job_status: last ? statusText(last) : '',
    next_scheduled_run: schedule.kind === 'cron' ? formatIso(next) : '',
  };
};

const getIntegration = ({ integrations }: Workspace, id: string | undefined): WorkspaceIntegration => {
  const found = integrations?.find(({ record }) => record.integration_id === id);
  if (!found) throw new HttpError(404, 'Integration not found');
  return found;
};

const PARAMETERS = { integration_id: 'ID of the integration.' };

/** Returns the links to the previous and next pages. */
const pageLinks = (path: string, skip: number, last: number, hasMore: boolean) => {
  const link = formatLink(
    {
      // Past the end of a list that has shrunk, links back to its last page.
      prev: skip > 0 ? cursorAt(Math.min(skip - INTEGRATIONS_PAGE_SIZE, last)) : undefined,
      next: hasMore ? cursorAt(skip + INTEGRATIONS_PAGE_SIZE) : undefined,
    },
    path,
  );
  return link && { headers: { Link: link } };
};

export const cdiIntegrations = defineRoute({
  limit: 'cdi_integrations',
  method: 'GET',
  path: INTEGRATIONS_PATH,
  permission: 'cdi.integration_list',
  response: { status: 200, schema: integrationsResponse },
  query: pageQuery,
  isPaged: true,
  operation: {
    id: 'listIntegrations',
    tag: 'Integrations',
    summary: 'List data-ingestion integrations',
    description: 'Ten a page. The `Link` header holds the relative addresses of the pages before and after.',
    badRequest: 'The cursor does not come from a `Link` header of this endpoint.',
    notFound: 'Data ingestion is not set up in this workspace.',
  },
  async handler({ workspace: { workspaceId, integrations }, store, query, now, metrics }) {
    const { cursor: skip } = query;
    if (integrations === null) throw new HttpError(404, ERROR_MESSAGES.noIntegrationList);
    const page = integrations.slice(skip, skip + INTEGRATIONS_PAGE_SIZE);
    const doRun = page.some(({ source }) => source !== null);
    const states = doRun ? await store.ingestion.states(workspaceId) : [];
    const runs = doRun ? await store.ingestion.lastRuns(workspaceId) : [];
    const results = page.map((integration) => {
      const isForIntegration = ({ integrationId }: { integrationId: string }) =>
        integrationId === integration.record.integration_id;
      return toIntegrationRecord(
        integration,
        states.find(isForIntegration),
        runs.find(isForIntegration),
        now,
      );
    });
    metrics.objects('integrations', results.length);
    const last =
      Math.max(0, Math.ceil(integrations.length / INTEGRATIONS_PAGE_SIZE) - 1) * INTEGRATIONS_PAGE_SIZE;
    const hasMore = skip + INTEGRATIONS_PAGE_SIZE < integrations.length;
    return {
      body: { results, message: 'success' },
      ...pageLinks(INTEGRATIONS_PATH, skip, last, hasMore),
    };
  },
});

/** Requests a run, which any replica starts within a second. */
export const cdiIntegrationSync = defineRoute({
  limit: 'cdi_integrations',
  path: INTEGRATION_SYNC_PATH,
  permission: 'cdi.integration_sync',
  response: { status: 202, schema: z.object({ message: z.string().check(described('`success`')) }) },
  writes: true,
  operation: {
    id: 'syncIntegration',
    tag: 'Integrations',
    summary: 'Run an integration now',
    description:
      'Queues a run, which starts within a second; `job_sync_status` has its status. While one is queued or running, returns 429 `Another job is in progress`, with the duration of the last run in `Retry-After`.',
    parameters: PARAMETERS,
    notFound: 'The integration is unknown, has no source, or its schedule is `paused`.',
  },
  async handler({ workspace, store, params, now }) {
    const { record, source, schedule } = getIntegration(workspace, params['integration_id']);
    if (source === null) throw new HttpError(404, 'The integration has no source, so nothing can be synced');
    if (schedule.kind === 'paused') throw new HttpError(404, 'The integration is paused');
    const { workspaceId } = workspace;
    if (!(await store.ingestion.request(workspaceId, record.integration_id, now))) {
      const ended = (await store.ingestion.runs(workspaceId, record.integration_id, { limit: 2 })).find(
        ({ finishedAtMs }) => finishedAtMs !== null,
      );
      const seconds = ended ? Math.ceil((ended.finishedAtMs! - ended.startedAtMs) / 1_000) : 1;
      throw new HttpError(429, ERROR_MESSAGES.anotherJob, {
        headers: { 'Retry-After': String(Math.max(1, seconds)) },
      });
    }
    return { body: { message: 'success' } };
  },
});

const toJobSyncStatus = (run: IngestionRun): JobSyncStatus => ({
  job_status: statusText(run),
  sync_start_time: formatIso(run.startedAtMs),
  sync_finish_time: formatIso(run.finishedAtMs),
  last_timestamp_synced: run.watermarkUs === null ? '' : stampText(run.watermarkUs),
  rows_synced: run.rowsSynced,
  rows_failed_with_errors: run.rowsFailed,
  message: run.message ?? '',
});

export const cdiJobSyncStatus = defineRoute({
  limit: 'cdi_integrations',
  method: 'GET',
  path: JOB_SYNC_STATUS_PATH,
  permission: 'cdi.integration_job_status',
  response: { status: 200, schema: jobSyncStatusResponse },
  query: pageQuery,
  isPaged: true,
  operation: {
    id: 'listJobSyncStatus',
    tag: 'Integrations',
    summary: 'List the runs of an integration',
    description:
      'Newest first, ten a page. The `Link` header holds the relative addresses of the pages before and after.',
    parameters: PARAMETERS,
    badRequest: 'The cursor does not come from a `Link` header of this endpoint.',
    notFound: 'The integration is unknown.',
  },
  async handler({ workspace, store, params, query, metrics }) {
    const { cursor: skip } = query;
    const { integration_id: id } = getIntegration(workspace, params['integration_id']).record;
    const limit = INTEGRATIONS_PAGE_SIZE + 1;
    const runs = await store.ingestion.runs(workspace.workspaceId, id, { skip, limit });
    const results = runs.slice(0, INTEGRATIONS_PAGE_SIZE).map(toJobSyncStatus);
    metrics.objects('runs', results.length);
    const path = JOB_SYNC_STATUS_PATH.replace('{integration_id}', encodeURIComponent(id));
    return {
      body: { results, message: 'success' },
      ...pageLinks(path, skip, skip, runs.length === limit),
    };
  },
});
