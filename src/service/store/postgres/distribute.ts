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

/** A group touches every shard, so few are fast; two for each worker leave room for twice as many workers. */
const SHARDS_PER_WORKER = 2;
const CHOOSE_SHARDS = `SELECT set_config('citus.shard_count', (greatest(count(*), 1) * ${SHARDS_PER_WORKER})::text, true)
  FROM citus_get_active_worker_nodes()
  WHERE (SELECT source = 'default' FROM pg_settings WHERE name = 'citus.shard_count')`;

/**
 * Spreads new tables over the nodes of a cluster; the small ones stay on the coordinator. A `citus.shard_count` that the
 * operator has set for the database or the role decides how many shards there are.
 */
export const distributeTables = async (run: Run): Promise<void> => {
  if (!(await isSharded(run))) return;
  await run(CHOOSE_SHARDS);
  for (const [table, column, colocateWith] of DISTRIBUTED) {
    await run(`SELECT create_distributed_table('${table}', '${column}', colocate_with => '${colocateWith}')`);
  }
};
