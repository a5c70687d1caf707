import type { Pool } from 'pg';
import { type Work, WorkError } from '../apply-works.ts';
import { type Named, namedBy } from '../named-users.ts';
import { RetryLaterError } from '../write-errors.ts';
import { findIds } from './find-users.ts';
import type { Run } from './statement.ts';
import { inTransaction } from './transaction.ts';
import { FIND_UNLOCKED } from './user-statements.ts';

const WAIT_SHORTLY = "SET LOCAL lock_timeout = '1s'";

/**
 * Keeps works that wait for a locked user, such as by a transaction that was forgotten in psql, from holding up the others:
 * they are refused. A user who was found locked is asked for again before the next group with them begins.
 */
export const createLockedUsers = (pool: Pool) => {
  const suspects = new Set<number>();

  /** Of these users, those whom somebody else has locked. */
  const lockedOf = async (run: Run, ids: number[]): Promise<Set<number>> => {
    const rows = await run<{ user_id: string }>(FIND_UNLOCKED, [ids]);
    const locked = new Set(ids);
    for (const { user_id } of rows) locked.delete(Number(user_id));
    return locked;
  };

  const refuse = (works: readonly Work[], ids: Map<number, string[]>, locked: Set<number>) => {
    const names = new Set([...locked].flatMap((userId) => ids.get(userId) ?? []));
    const waiting = works.filter((work) => [...namedBy([work]).keys()].some((name) => names.has(name)));
    if (waiting.length > 0) throw new WorkError(waiting, new RetryLaterError('A user is locked'));
  };

  return {
    /** Throws a `WorkError` for works with users who were found locked before and still are. */
    async recheck(run: Run, works: readonly Work[], ids: Map<number, string[]>): Promise<void> {
      const asked = [...suspects].filter((userId) => ids.has(userId));
      if (asked.length === 0) return;
      const locked = await lockedOf(run, asked);
      for (const userId of asked) if (!locked.has(userId)) suspects.delete(userId);
      refuse(works, ids, locked);
    },

    /** The same for a group that has waited too long; resolves where none of its users is locked any more. */
    async find(works: readonly Work[], named: Named): Promise<void> {
      await inTransaction(pool, async (run) => {
        await run(WAIT_SHORTLY);
        const ids = await findIds(run, named);
        const locked = await lockedOf(run, [...ids.keys()]);
        for (const userId of locked) suspects.add(userId);
        refuse(works, ids, locked);
      });
    },
  };
};
