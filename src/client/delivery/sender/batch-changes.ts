import type { BannerEvent } from '../../banner-event.ts';
import type { DropReason, Notice } from '../../notice.ts';
import { backoffMs } from '../../platform/backoff.ts';
import { isAhead, MAX_WAIT_MS } from '../../platform/deadline.ts';
import { fingerprint } from '../../platform/keyring.ts';
import type { DeliveryContext } from '../context.ts';
import type { Pause } from '../http/index.ts';
import {
  type Batch,
  bannerEvent,
  batchKey,
  type Control,
  type DeadRecord,
  deadKey,
  type EventKey,
  noWait,
  type QueuedEvent,
  type StoredEvent,
  VERSION,
  type Writes,
} from '../log/index.ts';

/** Requests in a row that are refused without the name of an event, before the next one waits. */
const MAX_REFUSALS = 8;

/** What became of the events of one batch. */
export interface Settled {
  delivered: BannerEvent[];
  /** Keys that left the queue. */
  gone: EventKey[];
  /** For the host. */
  notices: Notice[];
}

/** Moves an event to the dead letters. */
export const toDeadLetter = ({ key, event }: QueuedEvent, reason: string): Writes => {
  const { skip: _asked, after: _wait, ...letter } = event;
  const record: DeadRecord = { v: VERSION, event: { ...letter, isFinal: true }, reason };
  return [
    [key, undefined],
    [deadKey(key), record],
  ];
};

/**
 * What an outcome changes, in the transaction that settles the batch: the control record and `settled` in place, the rest in
 * the writes that each verb returns.
 */
export const createBatchChanges = (
  context: DeliveryContext,
  control: Control,
  batch: Batch,
  settled: Settled,
) => {
  const { host, isWorker, clock, options, random, newId } = context;
  // The host can be asked for a correction, here or in a page.
  const corrects = isWorker || host.correct !== undefined;
  const { now } = clock;
  /** No tab sends before the time that the server named, whatever other requests under way are answered. */
  const isLimited = (): boolean =>
    control.wait.reason === 'rate-limit' && isAhead(control.wait.until, now(), MAX_WAIT_MS);

  const wait = ({ reason, ms }: Pause, apiKey: string): void => {
    const { wait: before } = control;
    const failures = before.failures + 1;
    const until = now() + (ms ?? backoffMs(failures, random));
    const keepsLimit = isLimited() && (reason !== 'rate-limit' || until < before.until);
    control.wait = keepsLimit ? { ...before, failures } : { until, reason, failures, endedEarly: false };
    if (reason === 'unauthorized') control.refusedKey = fingerprint(apiKey);
  };

  const drop = ({ key, event }: QueuedEvent, reason: DropReason, detail: string): void => {
    settled.gone.push(key);
    settled.notices.push({ type: 'dropped', event: bannerEvent(event), reason, detail });
  };

  /** Named by the server: one attempt older, and either asked about, sent again later, or dead. */
  const skip = ({ key, event }: QueuedEvent, reason: string): Writes => {
    const attempts = event.attempts + 1;
    const older: StoredEvent = { ...event, attempts, isFinal: true };
    settled.notices.push({ type: 'skipped', event: bannerEvent(event), reason, attempts });
    if (attempts >= options.maxAttempts) {
      drop({ key, event }, 'attempts', reason);
      return toDeadLetter({ key, event: older }, reason);
    }
    return [[key, corrects ? { ...older, skip: reason } : { ...older, after: now() + options.maxWaitMs }]];
  };

  /** In a batch of their own, ready at once. */
  const sendAgain = (kept: QueuedEvent[], splits = batch.splits): Writes => {
    const keys = kept.map(({ key }) => key);
    const id = newId();
    return keys.length > 0 ? [[batchKey(id), { ...batch, id, keys, splits, until: 0 }]] : [];
  };

  return {
    wait,
    skip,
    sendAgain,

    /** The service has taken these, so nothing waits any more. */
    confirm(kept: QueuedEvent[]): Writes {
      if (!isLimited()) control.wait = noWait();
      control.refusedKey = null;
      control.delivered += kept.length;
      settled.delivered = kept.map(({ event }) => bannerEvent(event));
      settled.gone.push(...kept.map(({ key }) => key));
      return kept.map(({ key }) => [key, undefined]);
    },

    /** They may have been taken or not: the same batch goes out again, or its events are given up. */
    doubt(kept: QueuedEvent[]): Writes {
      settled.notices.push({ type: 'in-doubt', events: kept.map(({ event }) => bannerEvent(event)) });
      if (!kept.some(({ event }) => options.inDoubt[event.type] === 'at-most-once')) {
        return [[batchKey(batch.id), { ...batch, until: 0, doubt: true }]];
      }
      control.discarded += kept.length;
      for (const item of kept) drop(item, 'discarded', 'in doubt, at most once');
      return kept.map(({ key }) => [key, undefined]);
    },

    /** Refused without a name: halve, as what is too large, or, refused alone, give it to the host, or make it a dead letter. */
    refuse(kept: QueuedEvent[], reason: string): Writes {
      // A server that refuses so many requests in a row refuses them for something else than an event.
      const failures = control.wait.failures + 1;
      if (failures >= MAX_REFUSALS) wait({ reason: 'backoff' }, '');
      else control.wait = { ...control.wait, failures };
      const [only] = kept;
      if (batch.keys.length > 1 || only === undefined) {
        const middle = Math.ceil(kept.length / 2);
        const splits = batch.splits + 1;
        return [...sendAgain(kept.slice(0, middle), splits), ...sendAgain(kept.slice(middle), splits)];
      }
      // Unchanged it could only be refused again, so without a correction this is the end.
      if (corrects) return skip(only, reason);
      drop(only, 'rejected', reason);
      const { key, event } = only;
      return toDeadLetter({ key, event: { ...event, attempts: event.attempts + 1 } }, reason);
    },
  };
};
