import { Client, Pool } from 'pg';
import { inject, onTestFinished } from 'vitest';
import { createPoolRun, type Run } from '../../src/service/store/postgres/statement.ts';

/** Returns the URL of a new, empty database on a real PostgreSQL. */
export const aDatabase = async (): Promise<string> => {
  const response = await fetch(inject('postgresDatabases'));
  const text = await response.text();
  if (!response.ok) throw new Error(`No PostgreSQL: ${text}`);
  return text;
};

/** Connects to the database beside the service, until the test ends. */
export const runBeside = (url: string): Run => {
  const pool = new Pool({ connectionString: url, max: 1 });
  pool.on('error', () => undefined);
  onTestFinished(() => pool.end());
  return createPoolRun(pool);
};

/** Begins a transaction and leaves it open. */
export const lockBeside = async (url: string, statement: string) => {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('BEGIN');
  await client.query(statement);
  return { release: () => client.query('ROLLBACK') };
};

/** Selects backends of this database that wait for a lock or for the named event. */
export const waitsFor = (event = 'Lock'): string => `SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND '${event}' IN (wait_event_type, wait_event)`;

/**
 * Terminates the connections, as a failover or an administrator does. Begins with those that wait for a lock, because they could
 * commit once its holder is gone.
 */
export const END_ALL = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY wait_event_type = 'Lock' DESC NULLS LAST`;
