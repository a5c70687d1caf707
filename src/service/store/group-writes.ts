import type { SqlRow, Statement } from '../operators/index.ts';
import type { Changes, KeyRow } from '../profiles/user-set.ts';
import { type Batch, query, type Send } from './dialect.ts';
import type { KeptGoals } from './goals.ts';
import {
  type CountedChanges,
  changesCounts,
  type FoundCounts,
  keepCounts,
  storeBannerEvents,
} from './keep-counts.ts';
import type { Statements } from './statements.ts';

/** What one transaction writes: `sendFirst` and `sendLast` have the order. Only what is counted is not known before it begins. */
export interface GroupWrites {
  users: { updated: Batch; deleted: Batch; created: Batch; keysRemoved: Batch; keysAdded: Batch };
  events: Batch;
  others: Batch[];
  counted: Omit<CountedChanges, 'deeds'>;
  erased: Batch[];
  points: Batch;
}

/** All transactions write rows in one order, so that of two that write the same ones the second waits for the first. */
const byUser = <T extends { userId: number }>(rows: readonly T[]): T[] =>
  rows.toSorted((one, other) => one.userId - other.userId);
const byName = <T>(rows: readonly T[], nameOf: (row: T) => string): T[] =>
  rows.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
const nameOfKey = ({ workspaceId, key, userId }: KeyRow) => `${workspaceId} ${key} ${userId}`;

/** With a row for each that no other replica has written meanwhile. */
const all = (batch: Batch, rows: readonly unknown[]): Batch => ({ ...batch, expects: rows.length });

/** `also` are statements of the works themselves. */
export const groupWrites = (
  statements: Statements,
  changes: Changes,
  also: readonly Statement[] = [],
): GroupWrites => {
  const { updated, deleted, created, keysRemoved, keysAdded, erased, forgotten } = changes;
  const { moved, uncounted, bannerEvents } = changes;
  return {
    users: {
      updated: all(statements.updateUsers(byUser(updated)), updated),
      deleted: all(statements.deleteUsers(byUser(deleted)), deleted),
      created: all(statements.insertUsers(byUser(created)), created),
      keysRemoved: statements.deleteKeys(keysRemoved),
      keysAdded: all(statements.insertKeys(byName(keysAdded, nameOfKey)), keysAdded),
    },
    events: statements.insertEvents(changes.events),
    others: [
      ...forgotten.flatMap(({ workspaceId, externalId }) =>
        statements.forget.map((forget) => forget(workspaceId, externalId)),
      ),
      ...also.map(({ sql, values }) => query(sql, ...values)),
    ],
    counted: { moved, uncounted, bannerEvents },
    erased: statements.erase(erased),
    points: statements.addDataPoints(
      byName(changes.points, ({ workspaceId, day }) => `${workspaceId} ${day}`),
    ),
  };
};

/**
 * Sends what follows from nothing, and answers what the counts follow from, if there are any. Users who are there come first: of two
 * replicas the slower one fails there, before it has sent more. A key is taken from its user before another one gets it.
 */
export const sendFirst = <Rows>(
  send: Send<Rows>,
  statements: Statements,
  kept: KeptGoals,
  { users, events, others, erased }: GroupWrites,
  counted: CountedChanges,
): FoundCounts<Rows> | null => {
  const { updated, deleted, created, keysRemoved, keysAdded } = users;
  for (const batch of [updated, deleted, created, keysRemoved, keysAdded, events, ...others]) send(batch);
  const found = changesCounts(counted) ? storeBannerEvents(send, statements, kept, counted) : null;
  for (const batch of erased) send(batch);
  return found;
};

/** Sends the rest: last of all what every request of a workspace adds to. */
export const sendLast = <Rows>(
  send: Send<Rows>,
  statements: Statements,
  kept: KeptGoals,
  { points }: GroupWrites,
  counted: CountedChanges,
  found: FoundCounts<SqlRow[]> | null,
): Rows[] => [...(found ? keepCounts(statements, kept, counted, found) : []), points].map(send);
