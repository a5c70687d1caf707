import type { UserRow } from '../profiles/changes.ts';

/** Some users of a workspace, chosen evenly; the same ones at each call while nobody joins or leaves. */
export interface Sample {
  /** All users of the workspace: those with a profile, and those who only have banner events. */
  total: number;
  /** All of them, where they are no more than were asked for. */
  users: Pick<UserRow, 'externalId' | 'profile'>[];
}

/** A number for each user, as good as random, from 0 up to this one. Both databases have its operators. */
const CHOICES = 2 ** 32;
const CHOICE = `(((user_id & ${CHOICES - 1}) * 1540483477) & ${CHOICES - 1})`;

export const COUNT_USERS = 'SELECT count(*) AS total FROM users WHERE workspace_id = $1';
/** Of the values the second is `choiceBelow`. */
export const chooseUsers = (columns: string): string =>
  `SELECT ${columns} FROM users WHERE workspace_id = $1 AND ${CHOICE} < $2`;

/** So that about `size` users have a lower number. */
export const choiceBelow = (size: number, total: number): number =>
  total <= size ? CHOICES : Math.ceil((size / total) * CHOICES);
