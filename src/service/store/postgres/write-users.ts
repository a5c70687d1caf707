import type { Sql, TransactionSql } from 'postgres';
import { createBrazeIds } from '../../users/braze-id.ts';
import { readProfile, writeProfile } from '../../users/profile-text.ts';
import { comparableEmail, comparablePhone, lookupKey } from '../../users/user-key.ts';
import { packEvents } from '../packed-events.ts';
import type { StoredEvent, UserWork } from '../store.ts';
import { createWorkingSet, type Entry } from '../working-set.ts';
import { createBatcher } from './batcher.ts';
import { monthOf } from './partitions.ts';
import { isRefusal, retryConflicts } from './retry.ts';

/** Works in one transaction, and transactions at once. */
const MAX_WORKS = 48;
const LANES = 2;
/** Parts texts that are sent as one parameter: no JSON and no key has it. */
const SEPARATOR = '\u001e';
/** Locks that stand for e-mail addresses and phone numbers which nobody has yet. */
const CONTACT_LOCKS = 4_096;
const CONTACT_LOCK_CLASS = 7_061_638;
const POINT_SLOTS = 64;

interface Waiting {
  work: UserWork<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Each column as one text: a tenth of what an array parameter costs to write. */
const columns = (rows: string[][], count: number): string[] => {
  const texts = new Array<string>(count).fill('');
  for (let i = 0; i < rows.length; i += 1) {
    const row = rows[i]!;
    for (let column = 0; column < count; column += 1) {
      texts[column] = i === 0 ? row[column]! : texts[column] + SEPARATOR + row[column]!;
    }
  }
  return texts;
};

const lists = (count: number, first = 1) =>
  Array.from({ length: count }, (_, i) => `string_to_array($${first + i}, E'\\x1e')`).join(', ');

const LOCK_CONTACTS = `SELECT pg_advisory_xact_lock(${CONTACT_LOCK_CLASS}, slot::int)
  FROM unnest(${lists(1)}) AS slots(slot)`;
// The order makes every transaction lock its rows in the same sequence.
const LOCK_USERS = `SELECT users.workspace_id, users.profile FROM users
  WHERE (users.braze_id, users.workspace_id) IN (
    SELECT user_keys.braze_id, user_keys.workspace_id
    FROM unnest(${lists(2)}) AS wanted(key, workspace_id) JOIN user_keys USING (key, workspace_id)
    UNION SELECT * FROM unnest(${lists(2, 3)}) AS ids(braze_id, workspace_id))
  ORDER BY users.braze_id FOR UPDATE OF users`;
const INSERT_USERS = `INSERT INTO users (braze_id, workspace_id, profile) SELECT * FROM unnest(${lists(3)})`;
const UPDATE_USERS = `UPDATE users SET profile = changed.profile
  FROM unnest(${lists(3)}) AS changed(braze_id, workspace_id, profile)
  WHERE users.braze_id = changed.braze_id AND users.workspace_id = changed.workspace_id`;
const DELETE_USERS = `DELETE FROM users USING unnest(${lists(2)}) AS gone(braze_id, workspace_id)
  WHERE users.braze_id = gone.braze_id AND users.workspace_id = gone.workspace_id`;
const INSERT_KEYS = `INSERT INTO user_keys (key, workspace_id, braze_id)
  SELECT * FROM unnest(${lists(3)}) AS added(key, workspace_id, braze_id) ORDER BY 1, 2, 3
  ON CONFLICT (key, workspace_id, braze_id) DO NOTHING`;
const DELETE_KEYS = `DELETE FROM user_keys USING unnest(${lists(3)}) AS gone(key, workspace_id, braze_id)
  WHERE user_keys.key = gone.key AND user_keys.workspace_id = gone.workspace_id
    AND user_keys.braze_id = gone.braze_id`;
const INSERT_EVENTS = `INSERT INTO events (braze_id, workspace_id, time_ms, received_at_ms, events)
  SELECT braze_id, workspace_id, time_ms::bigint, received_at_ms::bigint, events
  FROM unnest(${lists(5)}) AS added(braze_id, workspace_id, time_ms, received_at_ms, events)`;
const ADD_POINTS = `INSERT INTO data_points (workspace_id, day, slot, points)
  SELECT workspace_id, day, slot::int, points::bigint
  FROM unnest(${lists(4)}) AS added(workspace_id, day, slot, points) ORDER BY 1, 2, 3
  ON CONFLICT (workspace_id, day, slot) DO UPDATE SET points = data_points.points + excluded.points`;

/** A stable number for a text, to choose a lock by. */
const slotOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % CONTACT_LOCKS;
};

/** What a transaction must lock before it can know who exists. */
const wantedBy = (works: UserWork<unknown>[]) => {
  const keys = new Map<string, string[]>();
  const ids = new Map<string, string[]>();
  const slots = new Set<number>();
  for (const { workspaceId, lookups } of works) {
    for (const lookup of lookups) {
      if (lookup.by === 'braze_id') {
        if (/^[0-9a-f]{25}$/.test(lookup.value))
          ids.set(`${workspaceId} ${lookup.value}`, [lookup.value, workspaceId]);
        continue;
      }
      const key = lookupKey(lookup);
      keys.set(`${workspaceId} ${key}`, [key, workspaceId]);
      // Two replicas that both find nobody for an address must not both create somebody.
      if (lookup.by === 'email') slots.add(slotOf(`${workspaceId} e${comparableEmail(lookup.value)}`));
      if (lookup.by === 'phone') slots.add(slotOf(`${workspaceId} p${comparablePhone(lookup.value)}`));
    }
  }
  return {
    slots: [...slots].sort((a, b) => a - b).map((slot) => [String(slot)]),
    keys: [...keys.values()],
    ids: [...ids.values()],
  };
};

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
const RESTART = new Error('A work of the batch failed');

/** Applies works to the users they name and stores what changed, many works in a transaction. */
export const createUserWriter = (sql: Sql) => {
  const newId = createBrazeIds();
  const slot = String(Math.floor(Math.random() * POINT_SLOTS));

  const run = (transaction: TransactionSql, statement: string, rows: string[][], count: number) =>
    rows.length === 0
      ? Promise.resolve([])
      : transaction.unsafe(statement, columns(rows, count), { prepare: true });

  /** One try; works in `failed` are left out. */
  const transact = async (
    batch: Waiting[],
    failed: Map<Waiting, unknown>,
  ): Promise<Map<Waiting, unknown>> => {
    const values = new Map<Waiting, unknown>();
    await sql.begin(async (transaction) => {
      const wanted = wantedBy(batch.map(({ work }) => work));
      // Locks before rows: whoever waited here must see what the one before has created.
      if (wanted.slots.length > 0) await run(transaction, LOCK_CONTACTS, wanted.slots, 1);
      const rows = await transaction.unsafe<{ workspace_id: string; profile: string }[]>(
        LOCK_USERS,
        [...columns(wanted.keys, 2), ...columns(wanted.ids, 2)],
        { prepare: true },
      );
      const set = createWorkingSet({ newId });
      for (const { workspace_id, profile } of rows) set.bring(workspace_id, readProfile(profile));

      const changed = new Map<string, Entry>();
      const keys = new Map<string, { row: string[]; isAdded: boolean }>();
      const events: string[][] = [];
      const points = new Map<string, number>();
      for (const waiting of batch) {
        if (failed.has(waiting)) continue;
        const { workspaceId, apply } = waiting.work;
        try {
          values.set(waiting, apply(set.users(workspaceId)));
        } catch (error) {
          failed.set(waiting, error);
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
          (isNew ? inserts : updates).push([profile.brazeId, workspaceId, writeProfile(profile)]);
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
    return values;
  };

  const store = async (batch: Waiting[]): Promise<void> => {
    const failed = new Map<Waiting, unknown>();
    try {
      let values: Map<Waiting, unknown> | null = null;
      while (!values) {
        values = await retryConflicts(() => transact(batch, failed)).catch((error: unknown) => {
          if (error !== RESTART) throw error;
          return null;
        });
      }
      for (const [{ resolve }, value] of values) resolve(value);
      for (const [{ reject }, error] of failed) reject(error);
    } catch (error) {
      if (batch.length > 1 && isRefusal(error)) {
        // One of them cannot be stored: the others must not fall with it.
        for (const waiting of batch) await store([waiting]);
      } else for (const { reject } of batch) reject(error);
    }
  };

  const batcher = createBatcher<Waiting>({ lanes: LANES, most: MAX_WORKS, run: store });
  return {
    write: <T>(work: UserWork<T>): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        batcher.add({ work, resolve: resolve as (value: unknown) => void, reject });
      }),
  };
};
