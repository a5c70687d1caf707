import type { Sql, TransactionSql } from 'postgres';
import { createBrazeIds } from '../../users/braze-id.ts';
import { readProfile, writeProfile } from '../../users/profile-text.ts';
import { packEvents } from '../packed-events.ts';
import type { StoredEvent, UserWork } from '../store.ts';
import { createWorkingSet, type Entry, unlink } from '../working-set.ts';
import { monthOf } from './partitions.ts';
import { createProfileCache } from './profile-cache.ts';
import {
  ADD_POINTS,
  columns,
  DELETE_KEYS,
  DELETE_USERS,
  INSERT_EVENTS,
  INSERT_KEYS,
  INSERT_USERS,
  LOCK_CONTACTS,
  LOCK_USERS,
  READ_USERS,
  SEPARATOR,
  UPDATE_USERS,
} from './user-statements.ts';
import { wantedBy } from './wanted.ts';

/** Rows that a day's data points are spread over. */
const POINT_SLOTS = 64;

interface LockedRow {
  braze_id: string;
  workspace_id: string;
  version: string;
}

interface ReadRow {
  workspace_id: string;
  profile: string;
}

/** Events of one user and month share a row. */
const eventRows = (workspaceId: string, events: StoredEvent[]): string[][] => {
  const groups = new Map<string, StoredEvent[]>();
  for (const event of events) {
    const id = `${event.brazeId} ${monthOf(event.timeMs).startMs}`;
    const group = groups.get(id);
    if (group) group.push(event);
    else groups.set(id, [event]);
  }
  return [...groups.values()].map((group) => [
    group[0]!.brazeId,
    workspaceId,
    String(group[0]!.timeMs),
    String(group[0]!.receivedAtMs),
    packEvents(group),
  ]);
};

/** Thrown to roll back and start again without a work that failed. */
export const RESTART = new Error('A work of the batch failed');

const run = (transaction: TransactionSql, statement: string, rows: string[][], count: number) =>
  rows.length === 0
    ? Promise.resolve([])
    : transaction.unsafe(statement, columns(rows, count), { prepare: true });

/** Applies many works in one transaction; answers what each of them returned, once it is committed. */
export const createTransact = (sql: Sql) => {
  const newId = createBrazeIds();
  const cache = createProfileCache();
  const slot = String(Math.floor(Math.random() * POINT_SLOTS));

  /** One try; works in `failed` are left out. */
  return async (
    batch: UserWork<unknown>[],
    failed: Map<UserWork<unknown>, unknown>,
  ): Promise<Map<UserWork<unknown>, unknown>> => {
    const values = new Map<UserWork<unknown>, unknown>();
    const versions = new Map<string, number>();
    const lengths = new Map<string, number>();
    const changed = new Map<string, Entry>();
    await sql.begin(async (transaction) => {
      const wanted = wantedBy(batch);
      // Locks before rows: whoever waited here must see what the one before has created.
      if (wanted.slots.length > 0) await run(transaction, LOCK_CONTACTS, wanted.slots, 1);
      const locked = await transaction.unsafe<LockedRow[]>(
        LOCK_USERS,
        [...columns(wanted.keys, 2), ...columns(wanted.ids, 2)],
        { prepare: true },
      );
      const set = createWorkingSet({ newId });
      const unknown: string[][] = [];
      for (const { braze_id, workspace_id, version } of locked) {
        versions.set(braze_id, Number(version));
        const profile = cache.take(braze_id, Number(version));
        if (profile) set.bring(workspace_id, profile);
        else unknown.push([braze_id, workspace_id]);
      }
      const read = (await run(transaction, READ_USERS, unknown, 2)) as ReadRow[];
      for (const { workspace_id, profile } of read) set.bring(workspace_id, readProfile(profile));

      const keys = new Map<string, { row: string[]; isAdded: boolean }>();
      const events: string[][] = [];
      const points = new Map<string, number>();
      for (const work of batch) {
        if (failed.has(work)) continue;
        const { workspaceId, apply } = work;
        try {
          values.set(work, apply(set.users(workspaceId)));
        } catch (error) {
          failed.set(work, error);
          throw RESTART;
        }
        const changes = set.take();
        for (const { entry } of changes.entries) changed.set(entry.profile.brazeId, entry);
        const change = (list: typeof changes.keysAdded, isAdded: boolean) => {
          for (const { entry, key } of list) {
            const row = [key, workspaceId, entry.profile.brazeId];
            keys.set(row.join(SEPARATOR), { row, isAdded });
          }
        };
        change(changes.keysRemoved, false);
        change(changes.keysAdded, true);
        events.push(...eventRows(workspaceId, changes.events));
        for (const { day, count } of changes.points) {
          const id = [workspaceId, day].join(SEPARATOR);
          points.set(id, (points.get(id) ?? 0) + count);
        }
      }
      const inserts: string[][] = [];
      const updates: string[][] = [];
      const deletes: string[][] = [];
      for (const { profile, workspaceId, isNew, removed } of changed.values()) {
        if (removed && !isNew) deletes.push([profile.brazeId, workspaceId]);
        else if (!removed) {
          const text = writeProfile(profile);
          lengths.set(profile.brazeId, text.length);
          (isNew ? inserts : updates).push([profile.brazeId, workspaceId, text]);
        }
      }
      const keyRows = (isAdded: boolean) =>
        [...keys.values()].flatMap((change) => (change.isAdded === isAdded ? [change.row] : []));
      // Sent together: the database works on one while the next is on its way.
      await Promise.all([
        run(transaction, UPDATE_USERS, updates, 3),
        run(transaction, DELETE_USERS, deletes, 2),
        run(transaction, INSERT_USERS, inserts, 3),
        run(transaction, DELETE_KEYS, keyRows(false), 3),
        run(transaction, INSERT_KEYS, keyRows(true), 3),
        run(transaction, INSERT_EVENTS, events, 5),
        // Last, because every writer of a workspace meets here.
        run(
          transaction,
          ADD_POINTS,
          [...points].map(([id, count]) => [...id.split(SEPARATOR), slot, String(count)]),
          4,
        ),
      ]);
    });
    for (const { profile, removed } of changed.values()) {
      unlink(profile);
      const { brazeId } = profile;
      if (!removed) cache.put(profile, (versions.get(brazeId) ?? 0) + 1, lengths.get(brazeId) ?? 0);
    }
    return values;
  };
};
