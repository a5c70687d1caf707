import { LEASE_MS } from '../../platform/deadline.ts';
import { fingerprint } from '../../platform/keyring.ts';
import type { DeliveryContext } from '../context.ts';
import { trackBody } from '../http/index.ts';
import {
  type Batch,
  batchKey,
  type Control,
  isInSending,
  type Log,
  type QueuedEvent,
  readEvent,
  type Writes,
} from '../log/index.ts';
import type { Unsent } from '../unsent.ts';

/** Added to the request's timeout: after both, no answer can come any more. */
const ANSWER_MARGIN_MS = 5_000;
/** How many fingerprints are kept: more than another tab appends while a batch is under way. */
const MAX_BATCHED = 300;

/** A batch that is leased to this tab, and the text of its request. */
export interface Leased {
  batch: Batch;
  body: string;
}

/** Until when an answer to a request that is sent now may come. */
export const answerUntil = ({ clock, options }: DeliveryContext): number =>
  clock.now() + options.timeoutMs + ANSWER_MARGIN_MS;

/**
 * Gives events their final times before their first request. Where a second tab has captured the same thing in the same
 * millisecond, the service would count both as one, so one is moved by a millisecond. Returns the writes for those that moved.
 */
const makeTimesUnique = (control: Control, kept: QueuedEvent[]): Writes => {
  const batched = new Set(control.batched);
  const moved: Writes = [];
  for (const { key, event } of kept) {
    const { userId, bannerId, type, isFinal } = event;
    if (isFinal) continue;
    const printAt = (time: number) => fingerprint(`${userId}\n${bannerId}\n${type}\n${time}`);
    const { time } = event;
    while (batched.has(printAt(event.time))) event.time += 1;
    if (event.time !== time) moved.push([key, event]);
    batched.add(printAt(event.time));
  }
  control.batched = [...batched].slice(-MAX_BATCHED);
  return moved;
};

/**
 * Makes this tab the sender, and leases it a batch that was chosen at `revision` of the log, in one transaction. `undefined`
 * where the log has changed since, or nothing of the batch is left: choose again.
 */
export const createLease =
  (context: DeliveryContext, log: Log, { isInLastFlush }: Unsent) =>
  async (batch: Batch, revision: number): Promise<Leased | undefined> => {
    let leased: Leased | undefined;
    const decide = (control: Control, [stored, ...records]: unknown[]): Writes | null => {
      // After a lost connection this runs twice: where the first run committed, change nothing.
      if (leased && isInSending(stored, leased.batch)) return null;
      leased = undefined;
      if (!context.canSend() || control.revision !== revision) return null;
      const isFresh = stored === undefined;
      if (isFresh && batch.keys.some(isInLastFlush)) return null;
      const kept = batch.keys.flatMap((key, i): QueuedEvent[] => {
        const event = readEvent(records[i]);
        return event ? [{ key, event }] : [];
      });
      // Purged or expired since: nothing is left to send.
      if (kept.length === 0) return [[batchKey(batch.id), undefined]];
      const moved = isFresh ? makeTimesUnique(control, kept) : [];
      const sent: Batch = { ...batch, keys: kept.map(({ key }) => key), until: answerUntil(context) };
      control.sender = { tab: context.tab, until: context.clock.now() + LEASE_MS };
      leased = { batch: sent, body: trackBody(kept.map(({ event }) => event)) };
      return [[batchKey(batch.id), sent], ...moved];
    };
    await log.step([batchKey(batch.id), ...batch.keys], decide);
    return leased;
  };

export type Lease = ReturnType<typeof createLease>;
