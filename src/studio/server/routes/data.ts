import {
  HttpError,
  stampText,
  toIntegrationRecord,
  type Workspace,
  type WorkspaceIntegration,
} from '../../../service/index.ts';
import { accepted, get, iso, post, type ResponseOf } from '../route.ts';

/** Number of runs in the chart and the table. */
const RUNS = 30;
const REJECTS = 100;

export const listData = get('/api/integrations', 'view', async ({ workspace, store, nowMs }) => {
  const { workspaceId, integrations } = workspace;
  // `null` if the workspace file has none.
  if (integrations === null) return { integrations: null };
  const states = await store.ingestion.states(workspaceId);
  const runs = await store.ingestion.lastRuns(workspaceId);
  const rejects = await store.ingestion.countRejects(workspaceId);
  return {
    integrations: integrations.map((integration) => {
      const { integration_id: id } = integration.record;
      const isOwn = ({ integrationId }: { integrationId: string }) => integrationId === id;
      const lastRun = runs.find(isOwn);
      const record = toIntegrationRecord(integration, states.find(isOwn), lastRun, nowMs);
      return {
        id,
        name: record.integration_name || id,
        type: record.integration_type,
        warehouse: record.warehouse_type,
        // Whether the service runs the integration. Other integrations are only listed.
        runs: integration.source !== null,
        status: record.integration_status,
        lastStatus: record.last_job_status,
        lastStart: record.last_job_start_time,
        nextRun: record.next_scheduled_run,
        lastNote: lastRun?.message ?? null,
        rejects: rejects.get(id) ?? 0,
      };
    }),
  };
});
export type DataResponse = ResponseOf<typeof listData>;

const getIntegration = ({ integrations }: Workspace, id: string): WorkspaceIntegration => {
  const found = integrations?.find(({ record, source }) => record.integration_id === id && source !== null);
  if (!found) throw new HttpError(404, 'Integration not found, or without a source');
  return found;
};

export const readIntegration = get(
  '/api/integrations/{id}',
  'view',
  async ({ workspace, store, operator, params }) => {
    const { workspaceId } = workspace;
    const id = params['id']!;
    getIntegration(workspace, id);
    const runs = await store.ingestion.runs(workspaceId, id, { limit: RUNS });
    const rejects = await store.ingestion.rejects(workspaceId, id, { limit: REJECTS + 1 });
    return {
      runs: runs.map((run) => ({
        id: run.runId,
        trigger: run.trigger,
        status: run.status,
        start: iso(run.startedAtMs),
        tookMs: run.finishedAtMs === null ? null : run.finishedAtMs - run.startedAtMs,
        synced: run.rowsSynced,
        failed: run.rowsFailed,
        // Watermark: `UPDATED_AT` of the last row read; `''` before the first.
        until: run.watermarkUs === null ? '' : stampText(run.watermarkUs),
        message: run.message,
      })),
      rejects: rejects.slice(0, REJECTS).map((reject) => ({
        id: reject.rejectId,
        // Omits keys for other operators, because keys often contain personal data.
        key: operator.canViewUsers ? (reject.key ?? '') : '',
        updatedAt: reject.updatedAtUs === null ? '' : stampText(reject.updatedAtUs),
        reason: reject.reason,
        at: iso(reject.rejectedAtMs),
        payload: operator.canViewUsers ? reject.payload : null,
      })),
      hasMoreRejects: rejects.length > REJECTS,
    };
  },
);
export type IntegrationResponse = ResponseOf<typeof readIntegration>;

export const syncIntegration = post(
  '/api/integrations/{id}/sync',
  'publish',
  async ({ workspace, store, params, nowMs, audit }) => {
    const id = params['id']!;
    const { schedule } = getIntegration(workspace, id);
    if (schedule.kind === 'paused') throw new HttpError(409, 'The integration is paused');
    if (!(await store.ingestion.request(workspace.workspaceId, id, nowMs))) {
      throw new HttpError(409, 'A run is already queued or in progress');
    }
    await audit('integration.sync', id);
    return accepted({});
  },
);
