import type { Pool } from 'pg';
import { createBrazeIds } from '../../profiles/braze-id.ts';
import { type Applied, type Batch, createApply } from './apply-works.ts';
import { lockUsers } from './lock-users.ts';
import { createLockedUsers } from './locked-users.ts';
import { createProfileCache, type Known } from './profile-cache.ts';
import { isConflict, isLockedOut } from './retry.ts';
import type { Run } from './statement.ts';
import { isUsual, sendRows, storeUsual } from './store-rows.ts';
import { inTransaction } from './transaction.ts';
import { createTrust } from './trust.ts';
import { createTurn } from './turn.ts';
import { isNothing, type Wanted, wantedBy } from './wanted.ts';

/** Rows that a day's data points are spread over. */
const POINT_SLOTS = 64;

/**
 * Applies the works of a batch in one transaction; resolves once it is committed. `pool` is for transactions of several
 * statements, `pipe` stores in the order in which it is sent.
 */
export const createTransactions = (pool: Pool, pipe: Run) => {
  const cache = createProfileCache();
  const trust = createTrust();
  const turn = createTurn();
  const locked = createLockedUsers(pool);
  const apply = createApply({
    newId: createBrazeIds(),
    pointSlot: String(Math.floor(Math.random() * POINT_SLOTS)),
  });
  /** Resolves once all that was sent over the pipe has its answer. */
  let piped: Promise<unknown> = Promise.resolve();

  const remember = ({ rows, after }: Applied) => {
    for (const [brazeId] of rows.deletes) cache.forget(brazeId!);
    for (const each of after) cache.keep(each);
  };

  /** What this leaves may be built on at once: it is stored before, or what is built on it is refused as well. */
  const storeAhead = (applied: Applied): Promise<unknown> => {
    remember(applied);
    const stored = storeUsual(pipe, applied.rows);
    piped = stored.catch(() => undefined);
    return stored;
  };

  const storeInTransaction = async (apply: (run: Run) => Promise<Applied>): Promise<void> => {
    await piped;
    const applied = await inTransaction(pool, async (run) => {
      const applied = await apply(run);
      sendRows(run, applied.rows);
      return applied;
    });
    remember(applied);
  };

  /** Resolves when the next batch may begin; what is to be waited for then is in the answer. */
  const store = async (batch: Batch, wanted: Wanted): Promise<{ stored?: Promise<unknown> }> => {
    const trusted = new Map<string, Known>();
    if (trust.isGiven()) for (const known of wanted.known) trusted.set(known.profile.brazeId, known);
    const asked = trust.isGiven() ? { ...wanted, known: [] } : wanted;
    if (isNothing(asked)) {
      const applied = apply(batch, trusted, true);
      if (isUsual(applied.rows)) return { stored: storeAhead(applied) };
      await storeInTransaction(async () => applied);
    } else {
      await storeInTransaction(async (run) => {
        const { found, isAsRemembered } = await lockUsers(run, asked);
        if (asked.known.length > 0) trust.hear(isAsRemembered);
        return apply(batch, new Map([...trusted, ...found]), trusted.size > 0);
      });
    }
    return {};
  };

  /** Not while a batch of this replica holds locks itself. */
  const inTurn = async <T>(ask: () => Promise<T>): Promise<T> => {
    const pass = await turn();
    try {
      await piped;
      return await ask();
    } finally {
      pass();
    }
  };

  return {
    /** Which works wait for users whom somebody else has locked. */
    findLocked: (works: Batch['works']) => inTurn(() => locked.find(works)),
    recheckLocked: async (works: Batch['works']) =>
      locked.areSuspected() ? inTurn(() => locked.recheck(works)) : new Set<Batch['works'][number]>(),

    /** True while nobody else writes the users of this replica, as far as it knows. */
    isAlone: trust.isGiven,

    async transact(batch: Batch): Promise<void> {
      const pass = await turn();
      let known: Known[] = [];
      const forget = (error: unknown): never => {
        if (isConflict(error) || isLockedOut(error)) trust.hear(false);
        // What was applied to them is not stored, or nobody knows.
        for (const { profile } of known) cache.forget(profile.brazeId);
        throw error;
      };
      const begin = async () => {
        const wanted = wantedBy(batch.works, cache);
        known = wanted.known;
        return store(batch, wanted);
      };
      // The next batch must not meet what this one has left in memory; whatever throws, it has its turn.
      const { stored } = await begin().catch(forget).finally(pass);
      await stored?.catch(forget);
    },
  };
};
