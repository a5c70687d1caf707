import type { BannerEvent } from '../../banner-event.ts';
import type { DropReason, Notice } from '../../notice.ts';
import { fingerprint } from '../../platform/keyring.ts';
import type { DeliveryContext } from '../context.ts';
import type { BatchOutcome } from '../http/index.ts';
import {
  type Batch,
  bannerEvent,
  batchKey,
  type Control,
  type EventKey,
  isInSending,
  type Log,
  type QueuedEvent,
  readEvent,
  toDeadLetter,
  type Writes,
} from '../log/index.ts';
import { waitAfter } from './wait-after.ts';

/** What became of the events of one batch. */
interface Settled {
  delivered: BannerEvent[];
  /** Keys that left the queue. */
  gone: EventKey[];
  /** For the host. */
  notices: Notice[];
  writes: Writes;
}

const NOTHING: Settled = { delivered: [], gone: [], notices: [], writes: [] };

/**
 * Decides what becomes of the events: item i of `items` is event i of the request, or a gap where it was purged meanwhile.
 * Changes the totals of `control`, and nothing else.
 */
const settleEvents = (
  { host, isWorker, clock, options, newId }: DeliveryContext,
  control: Control,
  batch: Batch,
  items: (QueuedEvent | undefined)[],
  { type, skipped, failure }: BatchOutcome,
): Settled => {
  const settled: Settled = { delivered: [], gone: [], notices: [], writes: [] };
  const { gone, notices, writes } = settled;
  // The host has a hook that corrects events, here or in a page.
  const corrects = isWorker || host.correct !== undefined;
  const kept = items.filter((item) => item !== undefined);
  const named = new Map(skipped.map(({ index, reason }) => [items[index], reason]));
  const others = kept.filter((item) => !named.has(item));

  const drop = ({ key, event }: QueuedEvent, reason: DropReason, detail: string): void => {
    gone.push(key);
    notices.push({ type: 'dropped', event: bannerEvent(event), reason, detail });
  };
  const bury = ({ key, event }: QueuedEvent, reason: DropReason, detail: string): void => {
    drop({ key, event }, reason, detail);
    writes.push(...toDeadLetter({ key, event: { ...event, attempts: event.attempts + 1 } }, detail));
  };
  /** Named by the server: one attempt older, and corrected by the host, sent again later, or dead. */
  const skip = (item: QueuedEvent, reason: string): void => {
    const { key, event } = item;
    const attempts = event.attempts + 1;
    notices.push({ type: 'skipped', event: bannerEvent(event), reason, attempts });
    const next = corrects ? { skip: reason } : { after: clock.now() + options.maxWaitMs };
    if (attempts >= options.maxAttempts) bury(item, 'attempts', reason);
    else writes.push([key, { ...event, attempts, isFinal: true, ...next }]);
  };
  /** In a batch of their own, ready at once. */
  const sendAgain = (some: QueuedEvent[], splits = batch.splits): void => {
    if (some.length === 0) return;
    const id = newId();
    const keys = some.map(({ key }) => key);
    writes.push([batchKey(id), { ...batch, id, keys, splits, until: 0 }]);
  };

  for (const [item, reason] of named) if (item) skip(item, reason);
  switch (type) {
    case 'confirmed':
      control.delivered += others.length;
      settled.delivered = others.map(({ event }) => bannerEvent(event));
      gone.push(...others.map(({ key }) => key));
      writes.push(...others.map(({ key }): Writes[0] => [key, undefined]));
      break;
    case 'again':
      sendAgain(others);
      break;
    case 'in-doubt':
      notices.push({ type: 'in-doubt', events: kept.map(({ event }) => bannerEvent(event)) });
      // They may have been taken or not: the same batch goes out again, or its events are given up.
      if (kept.every(({ event }) => options.inDoubt[event.type] === 'at-least-once')) {
        writes.push([batchKey(batch.id), { ...batch, until: 0, doubt: true }]);
        break;
      }
      control.discarded += kept.length;
      for (const item of kept) drop(item, 'discarded', 'in doubt, at most once');
      writes.push(...kept.map(({ key }): Writes[0] => [key, undefined]));
      break;
    case 'refused': {
      const [first] = others;
      const reason = failure?.message ?? '';
      // The named ones are at fault: the others were not taken.
      if (skipped.length > 0) sendAgain(others);
      // Without a name: halve, as what is too large.
      else if (batch.keys.length > 1 || first === undefined) {
        const middle = Math.ceil(others.length / 2);
        sendAgain(others.slice(0, middle), batch.splits + 1);
        sendAgain(others.slice(middle), batch.splits + 1);
      }
      // Refused alone: unchanged it could only be refused again, so without a correction this is the end.
      else if (corrects) skip(first, reason);
      else bury(first, 'rejected', reason);
    }
  }
  return settled;
};

/**
 * Brings the outcome of one batch to disk in one transaction: index i of the answer is item i of `batch.keys`. `apiKey` is
 * the one that was sent.
 */
export const createSettle =
  (context: DeliveryContext, log: Log) =>
  async (batch: Batch, outcome: BatchOutcome, apiKey: string): Promise<Omit<Settled, 'writes'>> => {
    const { type, wait } = outcome;
    let settled = NOTHING;
    let wasOurs = false;

    const decide = (control: Control, [stored, ...records]: unknown[]): Writes | null => {
      const isOurs = isInSending(stored, batch);
      // After a lost connection this runs twice: where the first run committed, change nothing.
      if (wasOurs && !isOurs) return null;
      wasOurs = isOurs;
      const items = batch.keys.map((key, i): QueuedEvent | undefined => {
        const event = readEvent(records[i]);
        return event && { key, event };
      });
      const isEmpty = items.every((item) => item === undefined);
      // A confirmation always counts, even when another tab sends the batch now or it was never written. Any other outcome
      // counts only for the sending that the log knows.
      if (!isOurs && (type !== 'confirmed' || isEmpty)) return null;
      if (control.sender?.tab === context.tab) control.sender = null;
      control.wait = waitAfter(context, control.wait, outcome);
      if (type === 'confirmed') control.refusedKey = null;
      if (wait?.reason === 'unauthorized') control.refusedKey = fingerprint(apiKey);
      settled = isEmpty ? NOTHING : settleEvents(context, control, isOurs ? stored : batch, items, outcome);
      // The batch ends here, unless one of the writes brings it back.
      return [[batchKey(batch.id), undefined], ...settled.writes];
    };

    await log.step([batchKey(batch.id), ...batch.keys], decide);
    return settled;
  };
