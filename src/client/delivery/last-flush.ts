import { isAhead, LEASE_MS, LONGEST_WAIT_MS } from '../platform/deadline.ts';
import type { Keyring } from '../platform/keyring.ts';
import type { Store } from '../platform/store.ts';
import type { Deferral } from './deferral.ts';
import type { Settled } from './event-moves.ts';
import type { KeepaliveBudget } from './keepalive-budget.ts';
import type { Ledger } from './ledger.ts';
import type { Mirror } from './mirror.ts';
import { planLastFlush } from './plan-last-flush.ts';
import { type Batch, batchKey, type Kept, type StoredEvent, VERSION } from './records.ts';
import { answerUntil } from './take.ts';

export interface LastFlushOptions {
  store: Store;
  ledger: Ledger;
  keyring: Keyring;
  mirror: Mirror;
  budget: KeepaliveBudget;
  deferral: Deferral;
  tab: string;
  now: () => number;
  newId: () => string;
  maxBatch: () => number;
  timeoutMs: number;
  sameGroup: (a: StoredEvent, b: StoredEvent) => boolean;
  isAllowed: () => boolean;
  isOnline: () => boolean;
  /** Whether an event may be sent again when nobody read the answer. */
  mayRepeat: (event: StoredEvent) => boolean;
  /**
   * Sends a batch and brings its outcome to disk; the request leaves before this returns. `otherwise` is asked where it
   * failed, as one does that the browser refuses, and answers whether it takes over.
   */
  send: (batch: Batch, key: string, otherwise: () => boolean) => Promise<{ settled: Settled }>;
}

/**
 * What a page does when it is hidden, since it may never run again: the requests leave at once, from memory, as
 * keepalive fetches (a beacon carries no Authorization header, and nobody reads its answer). The batches are written
 * without waiting, so that a later page knows what is in doubt. Answers how many events were delivered.
 *
 * What does not fit the budget, is refused for it or fails is left to the browser, which sends it when the page is gone.
 * Nobody reads that answer, so this is the second choice, and none for an event that may be sent only once. What the
 * browser does not take either stays stored.
 */
export const createLastFlush = (options: LastFlushOptions) => (): Promise<number> => {
  const { store, ledger, keyring, mirror, budget, deferral, tab, now, newId, maxBatch, timeoutMs } = options;
  const { sameGroup, isAllowed, isOnline, mayRepeat, send } = options;
  const meta = ledger.known();
  const key = keyring.current();
  const isOthers =
    meta?.sender != null && meta.sender.tab !== tab && isAhead(meta.sender.until, now(), LEASE_MS);
  const mayNot =
    meta === undefined ||
    meta.consent === 'disabled' ||
    isAhead(meta.wait.until, now(), LONGEST_WAIT_MS) ||
    isOthers;
  if (mayNot || key === undefined || !isAllowed()) return Promise.resolve(0);

  const plan = (waiting: Kept[], budgetBytes: number) =>
    planLastFlush(waiting, { budgetBytes, maxBatch: maxBatch(), sameGroup }).map(({ kept, body }) => ({
      kept,
      batch: {
        v: VERSION,
        id: newId(),
        keys: kept.map((item) => item.key),
        held: [],
        suspects: [],
        body,
        state: 'sent',
        attempt: newId(),
        until: answerUntil(now(), timeoutMs),
        doubt: false,
      } satisfies Batch,
    }));
  const defer = ({ batch, kept }: { batch: Batch; kept: Kept[] }): boolean =>
    isOnline() && kept.every(({ event }) => mayRepeat(event)) && deferral.arm(batch, key);

  const waiting = mirror.waiting();
  const first = plan(waiting, budget.left());
  const taken = new Set(first.flatMap(({ kept }) => kept));
  const rest = waiting.filter((item) => !taken.has(item) && mayRepeat(item.event));
  const later = plan(rest, deferral.left()).filter(defer);
  const batches = [...first, ...later].map(({ batch }) => batch);
  if (batches.length === 0) return Promise.resolve(0);
  const unhold = mirror.hold(batches.flatMap(({ keys }) => keys));
  const written = store
    .setMany(batches.map((batch) => [batchKey(batch.id), batch]))
    // A sender of another tab that has chosen the same events looks again.
    .then(() =>
      ledger.step([], (stored) => {
        stored.batches += 1;
        return { writes: [], result: true };
      }),
    )
    // Unwritten batches only lose their mark: the events are stored, and are sent again by whoever is next.
    .catch(() => undefined)
    .then(unhold);
  // One after the other, and all in this turn: the page may not get another one.
  const sent = first.map((one) => send(one.batch, key, () => defer(one)));
  return written
    .then(() => Promise.all(sent))
    .then((outcomes) => outcomes.reduce((sum, { settled }) => sum + settled.delivered.length, 0));
};
