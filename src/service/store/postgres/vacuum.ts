import { connectBeside } from './connect-beside.ts';
import { runIn } from './statement.ts';

const TABLES = ['users', 'user_keys', 'events', 'banner_events', 'user_campaigns', 'operator_audit'];

/** Writes each table anew, without what was deleted; what asks for a table waits meanwhile. */
export const vacuumPostgres = async (url: string): Promise<void> => {
  const { pool, close } = await connectBeside(url);
  try {
    for (const table of TABLES) await runIn(pool)(`VACUUM (FULL, ANALYZE) ${table}`);
  } finally {
    await close();
  }
};
