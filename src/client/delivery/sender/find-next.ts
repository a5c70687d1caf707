import { isAhead, LEASE_MS, MAX_PAUSE_MS, MAX_WAIT_MS } from '../../platform/deadline.ts';
import { compareKeys } from '../../platform/key-order.ts';
import type { StoreKey } from '../../platform/store.ts';
import type { DeliveryContext } from '../context.ts';
import {
  type Batch,
  batchState,
  type Control,
  EVENT_RANGE,
  keyText,
  type Log,
  type QueuedEvent,
  type StoredEvent,
  type Wait,
} from '../log/index.ts';
import type { Unsent } from '../unsent.ts';
import { isSameGroup, newBatch, planBatches } from './plan-batches.ts';

/** A batch alone fits the keepalive budget. */
const MAX_BODY_BYTES = 50_000;
/** How many events are read for company of the first one. */
const MAX_READ = 1_000;

/** What there is to do next. */
export type NextAction =
  /** Lease this batch, if the log is still at this revision, and send it. */
  | { type: 'send'; batch: Batch; revision: number }
  /** Sent once, and no answer can come any more: its events are in doubt now. */
  | { type: 'abandoned'; batch: Batch }
  /** Ask the host for a token of this user. */
  | { type: 'token'; userId: string }
  /** Ask the host for a correction of these. */
  | { type: 'correct'; kept: QueuedEvent[] }
  /** Another tab sends. */
  | { type: 'busy'; until: number }
  /** No tab may send before `until`. */
  | { type: 'waiting'; wait: Wait }
  /** Nothing now; look again at `due` (Unix milliseconds), or when something new happens. */
  | { type: 'nothing'; due: number };

/** Whether another tab sends at the moment. */
export const isOthers = ({ sender }: Control, tab: string, now: number): boolean =>
  sender !== null && sender.tab !== tab && isAhead(sender.until, now, LEASE_MS);

/** The oldest batch goes first. Split batches go last: one half will probably fail again. */
const byTurn = (a: Batch, b: Batch): number => a.splits - b.splits || compareKeys(a.keys[0]!, b.keys[0]!);

/** Finds what to do next, and changes nothing but what cannot be read. `all`: whether or not it is due. */
export const createFindNext = (
  context: DeliveryContext,
  log: Log,
  maxBatch: () => number,
  { isInLastFlush }: Unsent,
) => {
  const { tab, clock, options, userTokens, isWorker, newId } = context;
  const { now } = clock;
  const { maxWaitMs } = options;

  /** Reads the queue from its head until a batch is full or nothing is left. */
  const scan = async (batches: Batch[]) => {
    const inBatch = new Set(batches.flatMap(({ keys }) => keys.map(keyText)));
    const found = {
      waiting: [] as QueuedEvent[],
      skipped: [] as QueuedEvent[],
      corrupt: [] as StoreKey[],
      due: Number.POSITIVE_INFINITY,
    };
    const isSame = (event: StoredEvent) => isSameGroup(options, found.waiting[0]!.event, event);
    let same = 0;
    let read = 0;
    for await (const { key, event } of log.read(EVENT_RANGE)) {
      read += 1;
      if (event === undefined) found.corrupt.push(key);
      else if (inBatch.has(keyText(key)) || isInLastFlush(key)) continue;
      else if (event.skip !== undefined) found.skipped.push({ key, event });
      else if (isAhead(event.after ?? 0, now(), Math.max(maxWaitMs, MAX_PAUSE_MS))) {
        found.due = Math.min(found.due, event.after!);
      } else if (userTokens.isPaused(event.userId)) {
        found.due = Math.min(found.due, userTokens.pausedUntil(event.userId));
      } else {
        found.waiting.push({ key, event });
        same += Number(isSame(event));
        if (same >= maxBatch()) break;
      }
      if (read >= MAX_READ && same > 0) break;
    }
    return { ...found, group: found.waiting.filter(({ event }) => isSame(event)) };
  };

  return async (all: boolean): Promise<NextAction> => {
    const { control, batches, corrupt } = await log.overview();
    if (corrupt.length > 0) await log.removeCorrupt(corrupt);
    const { wait, sender, revision } = control;
    if (isAhead(wait.until, now(), MAX_WAIT_MS)) return { type: 'waiting', wait };
    if (isOthers(control, tab, now())) return { type: 'busy', until: sender!.until };
    // A token is requested without a lease: the host may take its time.
    const send = (batch: Batch): NextAction => {
      const { userId } = batch;
      return userTokens.isReady(userId) ? { type: 'send', batch, revision } : { type: 'token', userId };
    };

    const [next] = batches
      .map((batch) => ({ batch, state: batchState(batch, now()) }))
      .filter(({ batch, state }) => state !== 'sending' && !userTokens.isPaused(batch.userId))
      .sort((a, b) => byTurn(a.batch, b.batch));
    if (next?.state === 'abandoned') return { type: 'abandoned', batch: next.batch };
    if (next) return send(next.batch);

    const found = await scan(batches);
    if (found.corrupt.length > 0) await log.removeCorrupt(found.corrupt);
    if (!isWorker && found.skipped.length > 0) return { type: 'correct', kept: found.skipped };
    const [oldest] = found.waiting;
    if (oldest === undefined) {
      const dueOf = ({ until, userId }: Batch) =>
        userTokens.isPaused(userId) ? userTokens.pausedUntil(userId) : until;
      return { type: 'nothing', due: Math.min(found.due, ...batches.map(dueOf)) };
    }
    // A time far in the future means that the clock was set back since. Such an event is due.
    const isDue = Math.abs(now() - oldest.event.time) >= maxWaitMs || found.waiting.length >= maxBatch();
    if (!all && !isDue) return { type: 'nothing', due: oldest.event.time + maxWaitMs };
    const [first = [oldest]] = planBatches(found.group, MAX_BODY_BYTES, maxBatch(), context);
    return send(newBatch(first, newId()));
  };
};

export type FindNext = ReturnType<typeof createFindNext>;
