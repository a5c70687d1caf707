import type { Alert } from '../../../service/index.ts';
import { readAlerts } from '../alerts.ts';
import { get, type ResponseOf } from '../route.ts';

/** Cache time of a workspace's alerts, which every page requests. */
const KEPT_MS = 30_000;

export const createReadAlerts = () => {
  const kept = new Map<string, { atMs: number; alerts: Promise<readonly Alert[]> }>();
  return get('/api/alerts', 'view', async ({ workspace, store, nowMs }) => {
    const { workspaceId } = workspace;
    let found = kept.get(workspaceId);
    if (!found || nowMs - found.atMs >= KEPT_MS) {
      found = { atMs: nowMs, alerts: readAlerts(workspace, store, nowMs) };
      kept.set(workspaceId, found);
      found.alerts.catch(() => kept.delete(workspaceId));
    }
    return { alerts: await found.alerts };
  });
};
export type AlertsResponse = ResponseOf<ReturnType<typeof createReadAlerts>>;
