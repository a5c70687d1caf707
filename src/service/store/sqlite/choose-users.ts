import type { DatabaseSync } from 'node:sqlite';
import { CHOICE, choiceBelow } from '../sample.ts';

/** Reads every user's ID in the workspace's index, which takes a second with ten million: for a thread of its own. */
export const chooseUsers = (
  database: DatabaseSync,
  workspaceId: string,
  size: number,
): { total: number; ids: number[] } => {
  const count = database.prepare('SELECT count(*) AS total FROM users WHERE workspace_id = ?');
  const total = Number(count.get(workspaceId)?.['total']);
  const chosen = database.prepare(`SELECT user_id FROM users WHERE workspace_id = ? AND ${CHOICE} < ?`);
  const rows = chosen.all(workspaceId, choiceBelow(size, total));
  return { total, ids: rows.map((row) => Number(row['user_id'])) };
};
