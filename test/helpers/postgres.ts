import { inject } from 'vitest';

/** The URL of an empty database on a real PostgreSQL, which is this caller's alone. */
export const aDatabase = async (): Promise<string> => {
  const response = await fetch(inject('postgresDatabases'));
  const text = await response.text();
  if (!response.ok) throw new Error(`No PostgreSQL: ${text}`);
  return text;
};
