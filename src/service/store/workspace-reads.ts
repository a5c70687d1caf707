import type { RunSql } from '../operators/index.ts';
import type { StoreReader } from './store.ts';

/** What both databases read by the same statements. */
export const createWorkspaceReads = (run: RunSql): Pick<StoreReader, 'workspaceIds' | 'dataPoints'> => ({
  async workspaceIds() {
    const rows = await run('SELECT workspace_id FROM secrets ORDER BY workspace_id', []);
    return rows.map((row) => row['workspace_id'] as string);
  },

  async *dataPoints(workspaceId) {
    const rows = await run(
      'SELECT CAST(day AS text) AS day, sum(points) AS points FROM data_points WHERE workspace_id = $1 GROUP BY 1 ORDER BY 1',
      [workspaceId],
    );
    for (const row of rows) yield { day: row['day'] as string, points: Number(row['points']) };
  },
});
