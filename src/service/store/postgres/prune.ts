import type { Pool } from 'pg';
import { type PruneBefore, pruneStep } from '../prune.ts';
import { connect } from './connect.ts';
import { runIn } from './statement.ts';
import { TIME } from './user-statements.ts';

const MOMENT = TIME('$4::float8');

export const pruneIn = (pool: Pool) => (workspaceId: string, before: PruneBefore, after: number) =>
  pruneStep(runIn(pool), MOMENT, { workspaceId, before, after });

/** A connection beside those of services. */
export const openPostgresPruner = async (url: string) => {
  const { pool, close } = connect(url, 'upkeep', { connections: 1 });
  return { prune: pruneIn(pool), close };
};

const TABLES = ['users', 'user_keys', 'events', 'banner_events', 'user_campaigns', 'operator_audit'];

/** Writes each table anew, without what was deleted; what asks for a table waits meanwhile. */
export const vacuumPostgres = async (url: string): Promise<void> => {
  const { pool, close } = connect(url, 'upkeep', { connections: 1 });
  try {
    for (const table of TABLES) await runIn(pool)(`VACUUM (FULL, ANALYZE) ${table}`);
  } finally {
    await close();
  }
};
