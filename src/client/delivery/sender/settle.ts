import type { BannerEvent } from '../../banner-event.ts';
import type { DropReason } from '../../notice.ts';
import { backoffMs } from '../../platform/backoff.ts';
import { isAhead, LONGEST_WAIT_MS } from '../../platform/deadline.ts';
import { fingerprint } from '../../platform/keyring.ts';
import type { BatchDelivery, Skipped } from '../http/index.ts';
import {
  type Batch,
  bannerEvent,
  batchKey,
  type Control,
  type DeadRecord,
  deadKey,
  type EventKey,
  isBatch,
  type Kept,
  type Log,
  noWait,
  readEvent,
  type StoredEvent,
  VERSION,
  type Wait,
  type WaitReason,
  type Writes,
} from '../log/index.ts';
import type { DeliveryPage } from '../page.ts';
import { newBatch } from './plan-batches.ts';

/** The server will not know us before somebody changes its configuration: ask once an hour with the same key. */
const SAME_KEY_PROBE_MS = LONGEST_WAIT_MS;
/** Banners are not set up: look again now and then. */
const NOT_FOUND_PROBE_MS = 15 * 60_000;
/** Requests in a row that are refused without the name of an event, before the next one waits. */
const MAX_REFUSALS = 8;

/** What one batch came to. */
export interface Outcome {
  delivered: BannerEvent[];
  skipped: { event: BannerEvent; reason: string; attempts: number }[];
  dropped: { event: BannerEvent; reason: DropReason; detail: string }[];
  /** Skipped events whose correction must be asked. */
  toCorrect: Kept[];
  inDoubt: BannerEvent[];
  /** Set when nothing may be sent before `until`. */
  waiting: Wait | null;
  /** Keys that left the queue. */
  gone: EventKey[];
}

const noOutcome = (): Outcome => ({
  delivered: [],
  skipped: [],
  dropped: [],
  toCorrect: [],
  inDoubt: [],
  waiting: null,
  gone: [],
});

/** Moves an event to the dead letters. */
export const bury = ({ key, event }: Kept, reason: string): Writes => {
  const { skip: _asked, after: _wait, ...letter } = event;
  const record: DeadRecord = { v: VERSION, event: { ...letter, isFinal: true }, reason };
  return [
    [key, undefined],
    [deadKey(key), record],
  ];
};

export interface SettleOptions {
  log: Log;
  page: DeliveryPage;
  /** Whether the host can be asked for a correction, here or in another page. */
  corrects: boolean;
  isOnline: () => boolean;
}

/** Brings the outcome of one batch to disk in one transaction: index i of the answer is item i of `batch.keys`. */
export const createSettle = ({ log, page, corrects, isOnline }: SettleOptions) => {
  const { clock, options, random, newId } = page;
  const { now } = clock;

  /** No tab sends before the time that the server named, whatever other requests under way are answered. */
  const isLimited = ({ wait: { until, reason } }: Control): boolean =>
    reason === 'rate-limit' && isAhead(until, now(), LONGEST_WAIT_MS);

  /** What can happen to the events of one batch. Each returns its writes, and changes control and outcome along. */
  const movesOf = (control: Control, outcome: Outcome, stored: Batch) => {
    const wait = (reason: WaitReason, delayMs?: number): void => {
      const failures = control.wait.failures + 1;
      const until = now() + (delayMs ?? backoffMs(failures, random));
      const keepsLimit = isLimited(control) && (reason !== 'rate-limit' || until < control.wait.until);
      control.wait = keepsLimit ? { ...control.wait, failures } : { until, reason, failures, eased: false };
      outcome.waiting = control.wait;
    };

    const drop = ({ key, event }: Kept, reason: DropReason, detail: string): void => {
      outcome.gone.push(key);
      outcome.dropped.push({ event: bannerEvent(event), reason, detail });
    };

    const confirm = ({ key, event }: Kept): Writes => {
      control.delivered += 1;
      outcome.delivered.push(bannerEvent(event));
      outcome.gone.push(key);
      return [[key, undefined]];
    };

    /** Named by the server: one attempt older, and either asked about, sent again later, or dead. */
    const skip = ({ key, event }: Kept, reason: string): Writes => {
      const older: StoredEvent = { ...event, attempts: event.attempts + 1, isFinal: true };
      outcome.skipped.push({ event: bannerEvent(event), reason, attempts: older.attempts });
      if (older.attempts >= options.maxAttempts) {
        drop({ key, event }, 'attempts', reason);
        return bury({ key, event: older }, reason);
      }
      if (!corrects) return [[key, { ...older, after: now() + options.maxWaitMs }]];
      const asked = { ...older, skip: reason };
      outcome.toCorrect.push({ key, event: asked });
      return [[key, asked]];
    };

    const giveUp = (item: Kept): Writes => {
      control.discarded += 1;
      drop(item, 'discarded', 'in doubt, at most once');
      return [[item.key, undefined]];
    };

    const end: Writes = [[batchKey(stored.id), undefined]];
    const again = (change: Partial<Batch> = {}): Writes => {
      const batch: Batch = { ...stored, state: 'ready', attempt: newId(), until: 0, ...change };
      return [[batchKey(batch.id), batch]];
    };

    /** Some of its events, in a batch of their own. */
    const part = (kept: Kept[], splits = stored.splits): Writes => {
      if (kept.length === 0) return [];
      const { id, keys, body } = newBatch(kept, newId());
      return again({ id, keys, body, splits });
    };

    /** Refused without a name: halve, as what is too large, or, refused alone, give it to the host or bury it. */
    const refuse = (kept: Kept[], reason: string): Writes => {
      // A server that refuses so many requests in a row refuses them for something else than an event.
      const failures = control.wait.failures + 1;
      if (failures >= MAX_REFUSALS) wait('backoff');
      else control.wait = { ...control.wait, failures };
      const [only] = kept;
      if (stored.keys.length > 1 || only === undefined) {
        const middle = Math.ceil(kept.length / 2);
        const splits = stored.splits + 1;
        return [...end, ...part(kept.slice(0, middle), splits), ...part(kept.slice(middle), splits)];
      }
      // Unchanged it could only be refused again, so without a correction this is the end.
      if (corrects) return [...end, ...skip(only, reason)];
      drop(only, 'rejected', reason);
      const { key, event } = only;
      return [...end, ...bury({ key, event: { ...event, attempts: event.attempts + 1 } }, reason)];
    };

    const named = (items: (Kept | undefined)[], skipped: Skipped[]): Writes =>
      skipped.flatMap(({ index, reason }) => (items[index] ? skip(items[index], reason) : []));

    return { wait, confirm, giveUp, end, again, part, refuse, named };
  };

  return async (batch: Batch, delivery: BatchDelivery, key: string): Promise<Outcome> => {
    let outcome = noOutcome();
    let wasOurs = false;

    const decide = (control: Control, [stored, ...records]: unknown[]): Writes | null => {
      const isOurs = isBatch(stored) && stored.attempt === batch.attempt;
      // A lost connection asks twice, and the first time was committed after all: what it settled is settled.
      if (wasOurs && !isOurs) return null;
      wasOurs = isOurs;
      outcome = noOutcome();
      // Item i stays at i: an event that was purged meanwhile leaves a gap.
      const items = batch.keys.map((eventKey, i): Kept | undefined => {
        const event = readEvent(records[i]);
        return event && { key: eventKey, event };
      });
      const kept = items.filter((item) => item !== undefined);
      if (!isOurs && kept.length === 0) return null;
      const moves = movesOf(control, outcome, isOurs ? stored : batch);
      const { wait, confirm, giveUp, end, again, part, refuse, named } = moves;

      if (delivery.type === 'accepted') {
        // Confirmed is confirmed, even when another tab has taken the batch over or it was never written.
        const names = new Set(delivery.skipped.map(({ index }) => index));
        const taken = items.filter((item, i): item is Kept => item !== undefined && !names.has(i));
        if (!isLimited(control)) control.wait = noWait();
        control.refusedKey = null;
        return [...taken.flatMap(confirm), ...named(items, delivery.skipped), ...end];
      }
      // Another tab sends it now, or it is settled: this outcome is old news.
      if (!isOurs) return null;

      if (delivery.type === 'in-doubt') {
        outcome.inDoubt = kept.map(({ event }) => bannerEvent(event));
        // A tab that died says nothing about the network.
        if (!delivery.abandoned) {
          const reason = isOnline() ? 'backoff' : 'offline';
          const isSoon = delivery.outdated && reason === 'backoff';
          wait(reason, isSoon ? backoffMs(1, random) : undefined);
        }
        if (kept.some(({ event }) => options.inDoubt[event.type] === 'at-most-once')) {
          return [...end, ...kept.flatMap(giveUp)];
        }
        return [[batchKey(batch.id), { ...stored, until: 0, doubt: true }]];
      }
      if (delivery.type === 'retry') {
        wait(delivery.status === 429 ? 'rate-limit' : 'backoff', delivery.afterMs);
        return again();
      }
      const { status, skipped, reason } = delivery;
      if (status === 401 || status === 403) {
        wait('unauthorized', SAME_KEY_PROBE_MS);
        control.refusedKey = fingerprint(key);
        return again();
      }
      if (status === 404) {
        wait('not-found', NOT_FOUND_PROBE_MS);
        return again();
      }
      if (skipped.length === 0) return refuse(kept, reason);
      // Named ones are at fault; the others were not taken, and go out again.
      const names = new Set(skipped.map(({ index }) => index));
      const others = items.filter((item, i): item is Kept => item !== undefined && !names.has(i));
      return [...end, ...named(items, skipped), ...part(others)];
    };

    await log.step([batchKey(batch.id), ...batch.keys], decide);
    return outcome;
  };
};
