import type { UserRow } from './changes.ts';

/** Some users of a workspace, chosen evenly; the same ones at each call while nobody joins or leaves. */
export interface Sample {
  /** All users of the workspace: those with a profile, and those who only have banner events. */
  total: number;
  /** All of them, where there are no more than were asked for. */
  users: AsyncIterable<Pick<UserRow, 'externalId' | 'profile'>>;
}

/** A number that is as good as random for each user, from 0 up to this one: SQL's that both databases have. */
export const CHOICES = 2 ** 32;
export const CHOICE = `(((user_id & ${CHOICES - 1}) * 1540483477) & ${CHOICES - 1})`;

/** Users with a choice below it are about as many as are wanted. */
export const choiceBelow = (size: number, total: number): number =>
  total <= size ? CHOICES : Math.ceil((size / total) * CHOICES);
