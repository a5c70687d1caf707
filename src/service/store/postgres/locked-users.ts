import type { Pool } from 'pg';
import { lookupKey } from '../../profiles/user-key.ts';
import type { UserWork } from '../store.ts';
import { inTransaction } from './transaction.ts';
import { columns, FIND_LOCKED } from './user-statements.ts';

const WAIT_SHORTLY = "SET LOCAL lock_timeout = '1s'";

type Work = UserWork<unknown>;

/** What a work names its users by, each with its workspace: IDs, and keys. */
const namesOf = (works: readonly Work[]) => {
  const ids = new Map<string, [string, string]>();
  const keys = new Map<string, [string, string]>();
  for (const { workspaceId, lookups } of works) {
    for (const lookup of lookups) {
      if (lookup.by === 'braze_id') ids.set(`${workspaceId} ${lookup.value}`, [lookup.value, workspaceId]);
      else {
        const key = lookupKey(lookup);
        keys.set(`${workspaceId} ${key}`, [key, workspaceId]);
      }
    }
  }
  return { ids, keys };
};

/**
 * Finds the works that wait for a user whom somebody else has locked, such as a transaction that was forgotten in psql:
 * all that share a batch with them would wait as well. Who was found locked is asked for again before the next batch
 * with him begins.
 */
export const createLockedUsers = (pool: Pool) => {
  const suspects = new Set<string>();

  const ask = async (works: readonly Work[], isAsked: (name: string) => boolean): Promise<Set<Work>> => {
    const { ids, keys } = namesOf(works);
    for (const names of [ids, keys]) for (const name of names.keys()) if (!isAsked(name)) names.delete(name);
    if (ids.size + keys.size === 0) return new Set();
    const rows = await inTransaction(pool, async (run) => {
      await run(WAIT_SHORTLY);
      return run<{ name: string; workspace_id: string }>(FIND_LOCKED, [
        ...columns([...keys.values()], 2),
        ...columns([...ids.values()], 2),
      ]);
    });
    for (const names of [ids, keys]) for (const name of names.keys()) suspects.delete(name);
    const locked = new Set(rows.map((row) => `${row.workspace_id} ${row.name}`));
    for (const name of locked) suspects.add(name);
    return new Set(
      works.filter((work) => {
        const named = namesOf([work]);
        return [...named.ids.keys(), ...named.keys.keys()].some((name) => locked.has(name));
      }),
    );
  };

  return {
    /** Those of a batch that has waited too long. Rejects where it cannot be told. */
    find: (works: readonly Work[]) => ask(works, () => true),
    /** Those who would wait for somebody who was found locked before. */
    recheck: (works: readonly Work[]) => ask(works, (name) => suspects.has(name)),
    /** Whether anybody was found locked who has not been found free since. */
    areSuspected: () => suspects.size > 0,
  };
};
