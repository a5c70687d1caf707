import { isAhead, LONGEST_WAIT_MS } from '../platform/deadline.ts';
import { fingerprint } from '../platform/keyring.ts';
import { backoffMs } from './backoff.ts';
import { afterDelivery, afterRefusal } from './bisect.ts';
import type { BatchDelivery } from './deliver.ts';
import type { InDoubtPolicy } from './delivery-options.ts';
import {
  bury,
  createEventMoves,
  type EventMovesOptions,
  nothingSettled,
  type Settled,
  type Writes,
} from './event-moves.ts';
import type { Skipped } from './judge-errors.ts';
import type { Ledger } from './ledger.ts';
import {
  type Batch,
  bannerEvent,
  batchKey,
  isBatch,
  type Kept,
  type Meta,
  readEvent,
  type StoredEvent,
  type WaitReason,
} from './records.ts';

/** The server will not know us before somebody changes its configuration: ask once an hour with the same key. */
const SAME_KEY_PROBE_MS = LONGEST_WAIT_MS;
/** Banners are not set up: look again now and then. */
const NOT_FOUND_PROBE_MS = 15 * 60_000;

export interface SettleOptions extends EventMovesOptions {
  ledger: Ledger;
  random: () => number;
  newId: () => string;
  inDoubt: Record<StoredEvent['type'], InDoubtPolicy>;
  isOnline: () => boolean;
}

/** Brings the outcome of one batch to disk in one transaction: index i of the answer is item i of `batch.keys`. */
export const createSettle = (options: SettleOptions) => {
  const { ledger, now, random, newId, corrects, inDoubt, isOnline } = options;
  const { skip, confirm, giveUp } = createEventMoves(options);

  /** Nobody sends before the time that the server named, whatever other requests under way are answered. */
  const isLimited = ({ wait: { until, reason } }: Meta): boolean =>
    reason === 'rate-limit' && isAhead(until, now(), LONGEST_WAIT_MS);

  const wait = (meta: Meta, settled: Settled, reason: WaitReason, delayMs?: number) => {
    const failures = meta.wait.failures + 1;
    const until = now() + (delayMs ?? backoffMs(failures, random));
    const keepsLimit = isLimited(meta) && (reason !== 'rate-limit' || until < meta.wait.until);
    meta.wait = keepsLimit ? { ...meta.wait, failures } : { until, reason, failures, eased: false };
    settled.waiting = { until: meta.wait.until, reason: meta.wait.reason };
  };

  /** Refused without a name: halve, search, or, refused alone, give it to the host or to the dead letters. */
  const refuse = (meta: Meta, settled: Settled, batch: Batch, kept: Kept[], reason: string): Writes => {
    const [only] = kept;
    if (batch.keys.length === 1 && only !== undefined) {
      const writes: Writes = [[batchKey(batch.id), undefined]];
      // Nothing was taken while it was searched for: it is not the events that the server refuses, and the search for
      // the next one would end the same.
      if (batch.searchedAt === meta.delivered) wait(meta, settled, 'backoff');
      // Unchanged it could only be refused again, so without a correction this is the end.
      if (corrects) return [...writes, ...skip(meta, settled, only, reason)];
      settled.gone.push(only.key);
      settled.dropped.push({ event: bannerEvent(only.event), reason: 'rejected', detail: reason });
      const refused = { ...only, event: { ...only.event, attempts: only.event.attempts + 1 } };
      return [...writes, ...bury(meta, refused, reason)];
    }
    const { next, trusted } = afterRefusal(batch);
    const searched = { ...batch, searchedAt: batch.searchedAt ?? meta.delivered };
    const writes: Writes = [[batchKey(batch.id), again(searched, next)]];
    if (trusted.length === 0) return writes;
    const others: Batch = { ...again(searched, { keys: trusted, held: [], suspects: [] }), id: newId() };
    return [...writes, [batchKey(others.id), others]];
  };

  const again = (batch: Batch, change: Partial<Batch>): Batch => ({
    ...batch,
    ...change,
    body: change.keys === undefined ? batch.body : '',
    state: 'ready',
    attempt: newId(),
    until: 0,
  });

  /** Too large: two batches of half the size, in order. */
  const split = (batch: Batch): Writes => {
    const middle = Math.ceil(batch.keys.length / 2);
    const second: Batch = {
      ...again(batch, { keys: batch.keys.slice(middle), held: [], suspects: [] }),
      id: newId(),
    };
    return [
      [batchKey(batch.id), again(batch, { keys: batch.keys.slice(0, middle), suspects: [] })],
      [batchKey(second.id), second],
    ];
  };

  const named = (meta: Meta, settled: Settled, kept: (Kept | undefined)[], skipped: Skipped[]): Writes =>
    skipped.flatMap(({ index, reason }) => {
      const item = kept[index];
      return item === undefined ? [] : skip(meta, settled, item, reason);
    });

  return async (batch: Batch, delivery: BatchDelivery, key: string): Promise<Settled> => {
    let settled: Settled = nothingSettled();
    let wasOurs = false;
    await ledger.step([batchKey(batch.id), ...batch.keys], (meta, [stored, ...records]) => {
      const isOurs = isBatch(stored) && stored.attempt === batch.attempt;
      // A lost connection asks twice, and the first time was committed after all: what it settled is settled.
      if (wasOurs && !isOurs) return null;
      wasOurs = isOurs;
      settled = nothingSettled();
      // Item i stays at i: an event that was purged meanwhile leaves a gap.
      const items = batch.keys.map((eventKey, i): Kept | undefined => {
        const event = readEvent(records[i]);
        return typeof event === 'string' ? undefined : { key: eventKey, event };
      });
      const kept = items.filter((item) => item !== undefined);
      const change = (writes: Writes) => {
        meta.batches += 1;
        return { writes, result: true };
      };

      if (delivery.type === 'accepted') {
        // Confirmed is confirmed, even when another tab has taken the batch over or it was never written.
        const names = new Set(delivery.skipped.map(({ index }) => index));
        const writes = items.flatMap((item, i) =>
          item === undefined || names.has(i) ? [] : confirm(meta, settled, item),
        );
        if (!isLimited(meta)) meta.wait = { until: 0, reason: 'backoff', failures: 0, eased: false };
        meta.refusedKey = null;
        if (!isBatch(stored)) return change(writes);
        const search = stored.held.length > 0 ? afterDelivery(stored) : undefined;
        const rest = search === undefined ? undefined : again(stored, { ...search, doubt: false });
        return change([
          ...writes,
          ...named(meta, settled, items, delivery.skipped),
          [batchKey(batch.id), rest],
        ]);
      }
      // Somebody else sends it now, or it is settled: this outcome is old news.
      if (!isOurs) return null;

      if (delivery.type === 'in-doubt') {
        settled.inDoubt = kept.map(({ event }) => bannerEvent(event));
        // A tab that died says nothing about the network.
        if (!delivery.abandoned) {
          const reason = isOnline() ? 'backoff' : 'offline';
          const isSoon = delivery.outdated && reason === 'backoff';
          wait(meta, settled, reason, isSoon ? backoffMs(1, random) : undefined);
        }
        if (kept.some(({ event }) => inDoubt[event.type] === 'at-most-once')) {
          return change([
            [batchKey(batch.id), undefined],
            ...kept.flatMap((item) => giveUp(meta, settled, item, 'in doubt, at most once')),
          ]);
        }
        return change([[batchKey(batch.id), { ...stored, until: 0, doubt: true }]]);
      }
      if (delivery.type === 'retry') {
        wait(meta, settled, delivery.status === 429 ? 'rate-limit' : 'backoff', delivery.afterMs);
        return change([[batchKey(batch.id), again(stored, {})]]);
      }
      const { status, skipped, reason } = delivery;
      if (status === 401 || status === 403) {
        wait(meta, settled, 'unauthorized', SAME_KEY_PROBE_MS);
        meta.refusedKey = fingerprint(key);
        return change([[batchKey(batch.id), again(stored, {})]]);
      }
      if (status === 404) {
        wait(meta, settled, 'not-found', NOT_FOUND_PROBE_MS);
        return change([[batchKey(batch.id), again(stored, {})]]);
      }
      if (skipped.length > 0) {
        // Named ones are at fault; the others were not taken and go back to their places.
        return change([[batchKey(batch.id), undefined], ...named(meta, settled, items, skipped)]);
      }
      if (status === 413 && batch.keys.length > 1) return change(split(stored));
      return change(refuse(meta, settled, stored, kept, reason));
    });
    return settled;
  };
};
