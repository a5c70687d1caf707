import type { DatabaseSync } from 'node:sqlite';
import type { Row } from '../from-row.ts';
import { COUNT_USERS, choiceBelow, chooseUsers } from '../sample.ts';

/** Looks at the ID of every user, which takes a second with ten million: for a thread of its own. */
export const sampleUsers = (
  database: DatabaseSync,
  workspaceId: string,
  size: number,
): { total: number; rows: Row[] } => {
  const total = Number(database.prepare(COUNT_USERS).get({ $1: workspaceId })?.['total']);
  const chosen = { $1: workspaceId, $2: choiceBelow(size, total) };
  return { total, rows: database.prepare(chooseUsers('*')).all(chosen) };
};
