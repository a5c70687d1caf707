import { Pool } from 'pg';
import { inject, onTestFinished } from 'vitest';
import { type Run, runOn } from '../../src/service/store/postgres/statement.ts';

/** The URL of an empty database on a real PostgreSQL, which is this caller's alone. */
export const aDatabase = async (): Promise<string> => {
  const response = await fetch(inject('postgresDatabases'));
  const text = await response.text();
  if (!response.ok) throw new Error(`No PostgreSQL: ${text}`);
  return text;
};

/** Runs statements beside the service, until the test ends. */
export const runBeside = (url: string): Run => {
  const pool = new Pool({ connectionString: url, max: 1 });
  pool.on('error', () => undefined);
  onTestFinished(() => pool.end());
  return runOn(pool);
};
