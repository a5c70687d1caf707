import type { RunSql } from '../operators/index.ts';
import type { UserRow } from '../profiles/changes.ts';
import type { Row } from './from-row.ts';

/** Some users of a workspace, chosen evenly; the same ones at each call while no user comes or goes. */
export interface Sample {
  /** All users of the workspace: those with a profile, and those who only have banner events. */
  total: number;
  /** All of them, where they are no more than were asked for. */
  users: Pick<UserRow, 'externalId' | 'profile'>[];
}

/** A number for each user, as good as random, from 0 up to this one. Both databases have its operators. */
const CHOICES = 2 ** 32;
const CHOICE = `(((user_id & ${CHOICES - 1}) * 1540483477) & ${CHOICES - 1})`;

const COUNT_USERS = 'SELECT count(*) AS total FROM users WHERE workspace_id = $1';
const chooseUsers = (columns: string) =>
  `SELECT ${columns} FROM users WHERE workspace_id = $1 AND ${CHOICE} < $2`;

/** Looks at the ID of every user, which takes a second with ten million. Of both databases. */
export const readSample = async (
  run: RunSql,
  columns: string,
  workspaceId: string,
  size: number,
): Promise<{ total: number; rows: Row[] }> => {
  const [row] = await run(COUNT_USERS, [workspaceId]);
  const total = Number(row?.['total']);
  // So that about `size` users have a lower number.
  const below = total <= size ? CHOICES : Math.ceil((size / total) * CHOICES);
  return { total, rows: await run(chooseUsers(columns), [workspaceId, below]) };
};
