import type { BannerEvent } from '../../banner-event.ts';
import type { DropReason, Notice, WaitReason } from '../../notice.ts';
import { backoffMs } from '../../platform/backoff.ts';
import { isAhead, MAX_WAIT_MS } from '../../platform/deadline.ts';
import { fingerprint } from '../../platform/keyring.ts';
import type { Verdict } from '../http/index.ts';
import {
  type Batch,
  bannerEvent,
  batchKey,
  type Control,
  type DeadRecord,
  deadKey,
  type EventKey,
  isBatch,
  type Log,
  noWait,
  type QueuedEvent,
  readEvent,
  type StoredEvent,
  VERSION,
  type Writes,
} from '../log/index.ts';
import type { DeliveryPage } from '../page.ts';

/** Requests in a row that are refused without the name of an event, before the next one waits. */
const MAX_REFUSALS = 8;

/** What one batch came to. */
export interface Outcome {
  delivered: BannerEvent[];
  /** Keys that left the queue. */
  gone: EventKey[];
  /** What the host is told. */
  notices: Notice[];
}

/** No tab sends before the time that the server named, whatever other requests under way are answered. */
const isLimited = ({ wait: { until, reason } }: Control, now: number): boolean =>
  reason === 'rate-limit' && isAhead(until, now, MAX_WAIT_MS);

/** Moves an event to the dead letters. */
export const toDeadLetter = ({ key, event }: QueuedEvent, reason: string): Writes => {
  const { skip: _asked, after: _wait, ...letter } = event;
  const record: DeadRecord = { v: VERSION, event: { ...letter, isFinal: true }, reason };
  return [
    [key, undefined],
    [deadKey(key), record],
  ];
};

/** One batch in the transaction that settles it: what can happen to it and its events. Each verb returns its writes. */
const createBatchChanges = (page: DeliveryPage, control: Control, batch: Batch, outcome: Outcome) => {
  const { host, isWorker, clock, options, random, newId } = page;
  // The host can be asked for a correction, here or in a page.
  const corrects = isWorker || host.correct !== undefined;
  const { now } = clock;
  const end: Writes = [[batchKey(batch.id), undefined]];

  const drop = ({ key, event }: QueuedEvent, reason: DropReason, detail: string): void => {
    outcome.gone.push(key);
    outcome.notices.push({ type: 'dropped', event: bannerEvent(event), reason, detail });
  };

  const wait = (reason: WaitReason, ms?: number): void => {
    const { wait: before } = control;
    const failures = before.failures + 1;
    const until = now() + (ms ?? backoffMs(failures, random));
    const keepsLimit = isLimited(control, now()) && (reason !== 'rate-limit' || until < before.until);
    control.wait = keepsLimit ? { ...before, failures } : { until, reason, failures, eased: false };
  };

  const confirm = ({ key, event }: QueuedEvent): Writes => {
    control.delivered += 1;
    outcome.delivered.push(bannerEvent(event));
    outcome.gone.push(key);
    return [[key, undefined]];
  };

  /** Named by the server: one attempt older, and either asked about, sent again later, or dead. */
  const skip = ({ key, event }: QueuedEvent, reason: string): Writes => {
    const attempts = event.attempts + 1;
    const older: StoredEvent = { ...event, attempts, isFinal: true };
    outcome.notices.push({ type: 'skipped', event: bannerEvent(event), reason, attempts });
    if (attempts >= options.maxAttempts) {
      drop({ key, event }, 'attempts', reason);
      return toDeadLetter({ key, event: older }, reason);
    }
    return [[key, corrects ? { ...older, skip: reason } : { ...older, after: now() + options.maxWaitMs }]];
  };

  const giveUp = (item: QueuedEvent): Writes => {
    control.discarded += 1;
    drop(item, 'discarded', 'in doubt, at most once');
    return [[item.key, undefined]];
  };

  /** Some of its events, ready again in a batch of their own. */
  const part = (kept: QueuedEvent[], splits = batch.splits): Writes => {
    const keys = kept.map(({ key }) => key);
    const id = newId();
    return keys.length > 0 ? [[batchKey(id), { ...batch, id, keys, splits, until: 0 }]] : [];
  };

  /** Refused without a name: halve, as what is too large, or, refused alone, give it to the host, or make it a dead letter. */
  const refuse = (kept: QueuedEvent[], reason: string): Writes => {
    // A server that refuses so many requests in a row refuses them for something else than an event.
    const failures = control.wait.failures + 1;
    if (failures >= MAX_REFUSALS) wait('backoff');
    else control.wait = { ...control.wait, failures };
    const [only] = kept;
    if (batch.keys.length > 1 || only === undefined) {
      const middle = Math.ceil(kept.length / 2);
      const splits = batch.splits + 1;
      return [...end, ...part(kept.slice(0, middle), splits), ...part(kept.slice(middle), splits)];
    }
    // Unchanged it could only be refused again, so without a correction this is the end.
    if (corrects) return [...end, ...skip(only, reason)];
    drop(only, 'rejected', reason);
    const { key, event } = only;
    return [...end, ...toDeadLetter({ key, event: { ...event, attempts: event.attempts + 1 } }, reason)];
  };

  return { end, wait, confirm, skip, giveUp, part, refuse };
};

/** Brings the outcome of one batch to disk in one transaction: index i of the answer is item i of `batch.keys`. */
export const createSettle =
  (page: DeliveryPage, log: Log) =>
  async (batch: Batch, verdict: Verdict, key: string): Promise<Outcome> => {
    const { fate, skipped, wait, failure } = verdict;
    const { inDoubt } = page.options;
    let outcome: Outcome = { delivered: [], gone: [], notices: [] };
    let wasOurs = false;

    const decide = (control: Control, [stored, ...records]: unknown[]): Writes | null => {
      const isOurs = isBatch(stored) && stored.until === batch.until;
      // A lost connection asks twice, and the first time was committed after all: what it settled is settled.
      if (wasOurs && !isOurs) return null;
      wasOurs = isOurs;
      // Item i stays at i: an event that was purged meanwhile leaves a gap.
      const items = batch.keys.map((eventKey, i): QueuedEvent | undefined => {
        const event = readEvent(records[i]);
        return event && { key: eventKey, event };
      });
      const kept = items.filter((item) => item !== undefined);
      // Confirmed is confirmed, even when another tab has taken the batch over or it was never written. Beyond that the
      // outcome of a batch that another tab sends now, or that is settled, is old news.
      if (!isOurs && (fate !== 'confirmed' || kept.length === 0)) return null;
      outcome = { delivered: [], gone: [], notices: [] };
      if (control.sender?.tab === page.tab) control.sender = null;
      const changes = createBatchChanges(page, control, isOurs ? stored : batch, outcome);

      if (wait) changes.wait(wait.reason, wait.ms);
      if (wait?.reason === 'unauthorized') control.refusedKey = fingerprint(key);
      const named = new Set(skipped.map(({ index }) => index));
      const others = items.filter((item, i): item is QueuedEvent => item !== undefined && !named.has(i));
      const skips = () =>
        skipped.flatMap(({ index, reason }) => (items[index] ? changes.skip(items[index], reason) : []));
      if (kept.length === 0) return changes.end;
      switch (fate) {
        case 'confirmed':
          if (!isLimited(control, page.clock.now())) control.wait = noWait();
          control.refusedKey = null;
          return [...others.flatMap(changes.confirm), ...skips(), ...changes.end];
        case 'again':
          return [...changes.end, ...changes.part(kept)];
        case 'in-doubt':
          outcome.notices.push({ type: 'in-doubt', events: kept.map(({ event }) => bannerEvent(event)) });
          if (kept.some(({ event }) => inDoubt[event.type] === 'at-most-once')) {
            return [...changes.end, ...kept.flatMap(changes.giveUp)];
          }
          return [[batchKey(batch.id), { ...(stored as Batch), until: 0, doubt: true }]];
        case 'refused':
          if (named.size === 0) return changes.refuse(kept, failure?.message ?? '');
          // Named ones are at fault; the others were not taken, and go out again.
          return [...changes.end, ...skips(), ...changes.part(others)];
      }
    };

    await log.step([batchKey(batch.id), ...batch.keys], decide);
    return outcome;
  };
