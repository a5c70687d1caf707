import type { Store } from '../platform/store.ts';
import { isAhead, LEASE_MS, LONGEST_WAIT_MS } from './deadline.ts';
import type { Settled } from './event-moves.ts';
import type { KeepaliveBudget } from './keepalive-budget.ts';
import type { Keyring } from './keyring.ts';
import type { Ledger } from './ledger.ts';
import type { Mirror } from './mirror.ts';
import { planLastFlush } from './plan-last-flush.ts';
import { type Batch, batchKey, type StoredEvent, VERSION } from './records.ts';
import { answerUntil } from './take.ts';

export interface LastFlushOptions {
  store: Store;
  ledger: Ledger;
  keyring: Keyring;
  mirror: Mirror;
  budget: KeepaliveBudget;
  tab: string;
  now: () => number;
  newId: () => string;
  maxBatch: () => number;
  timeoutMs: number;
  sameGroup: (a: StoredEvent, b: StoredEvent) => boolean;
  isAllowed: () => boolean;
  /** Sends a batch and brings its outcome to disk; the request leaves before this returns. */
  send: (batch: Batch, key: string) => Promise<{ settled: Settled }>;
}

/**
 * What a page does when it is hidden, since it may never run again: the requests leave at once, from memory, as
 * keepalive fetches (a beacon carries no Authorization header, and nobody reads its answer). The batches are written
 * without waiting, so that a later page knows what is in doubt. What does not fit the budget stays stored. Answers how
 * many events were delivered.
 *
 * `fetchLater` is not used. Nobody can ever read its answer, so each event it carries would be in doubt and sent again,
 * and one that is planned while the page lives cannot be taken back once the browser has begun it. What it would add,
 * events beyond the keepalive budget of a page that dies at once, is on disk for the next page or the service worker.
 */
export const createLastFlush =
  ({
    store,
    ledger,
    keyring,
    mirror,
    budget,
    tab,
    now,
    newId,
    maxBatch,
    timeoutMs,
    sameGroup,
    isAllowed,
    send,
  }: LastFlushOptions) =>
  (): Promise<number> => {
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

    const plan = planLastFlush(mirror.waiting(), {
      budgetBytes: budget.left(),
      maxBatch: maxBatch(),
      sameGroup,
    });
    if (plan.length === 0) return Promise.resolve(0);
    const batches = plan.map(
      ({ kept, body }): Batch => ({
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
      }),
    );
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
    const sent = batches.map((batch) => send(batch, key));
    return written
      .then(() => Promise.all(sent))
      .then((outcomes) => outcomes.reduce((sum, { settled }) => sum + settled.delivered.length, 0));
  };
