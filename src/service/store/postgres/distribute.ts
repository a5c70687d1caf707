import type { Run } from './statement.ts';

/** Each table with the column that says on which node a row is: all rows of a user are on one. */
const DISTRIBUTED = [
  ['users', 'user_id', 'none'],
  ['events', 'user_id', 'users'],
  ['banner_events', 'user_id', 'users'],
  ['user_campaigns', 'user_id', 'users'],
  ['user_keys', 'key', 'none'],
] as const;

/** Whether the database is the coordinator of a Citus cluster. */
export const isSharded = async (run: Run): Promise<boolean> =>
  (await run("SELECT 1 FROM pg_extension WHERE extname = 'citus'")).length > 0;

/** Spreads new tables over the nodes of a cluster. The small ones stay on the coordinator. */
export const distributeTables = async (run: Run): Promise<void> => {
  if (!(await isSharded(run))) return;
  for (const [table, column, colocateWith] of DISTRIBUTED) {
    await run(`SELECT create_distributed_table('${table}', '${column}', colocate_with => '${colocateWith}')`);
  }
};
