import { isAhead, LEASE_MS, MAX_PAUSE_MS, MAX_WAIT_MS } from '../../platform/deadline.ts';
import { compareKeys } from '../../platform/key-order.ts';
import { fingerprint } from '../../platform/keyring.ts';
import type { StoreKey } from '../../platform/store.ts';
import type { DeliveryContext } from '../context.ts';
import { trackBody } from '../http/index.ts';
import {
  type Batch,
  batchKey,
  batchState,
  type Control,
  EVENT_RANGE,
  isInSending,
  keyText,
  type Log,
  type QueuedEvent,
  readEvent,
  type StoredEvent,
  type Wait,
  type Writes,
} from '../log/index.ts';
import type { Unsent } from '../unsent.ts';
import { isSameGroup, newBatch, planBatches } from './plan-batches.ts';
import type { Leased } from './send-batch.ts';

/** Added to the request's timeout: after both, no answer can come any more. */
const ANSWER_MARGIN_MS = 5_000;
/** A batch alone fits the keepalive budget. */
const MAX_BODY_BYTES = 50_000;
/** How many events are read for company of the first one. */
const MAX_READ = 1_000;
/** How many fingerprints are kept: more than another tab appends while a batch is under way. */
const MAX_BATCHED = 300;

/** What there is to do next. */
export type NextAction =
  /** Send this; it is leased to this tab. */
  | ({ type: 'send' } & Leased)
  /** Sent once, and no answer can come any more: its events are in doubt now. */
  | { type: 'abandoned'; batch: Batch }
  /** Ask the host for a correction of these. */
  | { type: 'correct'; kept: QueuedEvent[] }
  /** Another tab sends. */
  | { type: 'busy'; until: number }
  /** No tab may send before `until`. */
  | { type: 'waiting'; wait: Wait }
  /** Nothing now; look again at `due` (Unix milliseconds), or when something new happens. */
  | { type: 'nothing'; due: number };

const NEVER = Number.POSITIVE_INFINITY;

/** Whether another tab sends at the moment. */
export const isOthers = ({ sender }: Control, tab: string, now: number): boolean =>
  sender !== null && sender.tab !== tab && isAhead(sender.until, now, LEASE_MS);

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

/** Finds what to send next, and leases it to this tab in one transaction. `all`: whether or not it is due. */
export const createLeaseNext = (
  context: DeliveryContext,
  log: Log,
  maxBatch: () => number,
  isInLastFlush: Unsent['isInLastFlush'],
) => {
  const { tab, clock, options, userTokens, isWorker, newId, maySend } = context;
  const { now } = clock;
  const { maxWaitMs } = options;

  /** `undefined` when another step came between: look again. */
  const lease = async (batch: Batch, revision: number): Promise<NextAction | undefined> => {
    let action: NextAction | undefined;
    const decide = (control: Control, [stored, ...records]: unknown[]): Writes | null => {
      // After a lost connection this runs twice: where the first run committed, change nothing.
      if (action?.type === 'send' && isInSending(stored, action.batch)) return null;
      action = undefined;
      if (!maySend() || control.revision !== revision) return null;
      const isFresh = stored === undefined;
      if (isFresh && batch.keys.some(isInLastFlush)) return null;
      const kept = batch.keys.flatMap((key, i): QueuedEvent[] => {
        const event = readEvent(records[i]);
        return event ? [{ key, event }] : [];
      });
      // Purged or expired since: nothing is left to send.
      if (kept.length === 0) return [[batchKey(batch.id), undefined]];
      const moved = isFresh ? makeTimesUnique(control, kept) : [];
      const leased: Batch = { ...batch, keys: kept.map(({ key }) => key), until: answerUntil(context) };
      control.sender = { tab, until: now() + LEASE_MS };
      action = { type: 'send', batch: leased, body: trackBody(kept.map(({ event }) => event)) };
      return [[batchKey(batch.id), leased], ...moved];
    };
    await log.step([batchKey(batch.id), ...batch.keys], decide);
    return action;
  };

  /** Reads the queue from its head until a batch is full or nothing is left. */
  const scan = async (batches: Batch[]) => {
    const inBatch = new Set(batches.flatMap(({ keys }) => keys.map(keyText)));
    const found = {
      waiting: [] as QueuedEvent[],
      skipped: [] as QueuedEvent[],
      corrupt: [] as StoreKey[],
      due: NEVER,
    };
    const isCompany = (event: StoredEvent) => isSameGroup(options, found.waiting[0]!.event, event);
    let company = 0;
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
        company += Number(isCompany(event));
        if (company >= maxBatch()) break;
      }
      if (read >= MAX_READ && company > 0) break;
    }
    return { ...found, group: found.waiting.filter(({ event }) => isCompany(event)) };
  };

  /** The oldest batch goes first. Split batches go last: one half will probably fail again. */
  const byTurn = (a: Batch, b: Batch): number => a.splits - b.splits || compareKeys(a.keys[0]!, b.keys[0]!);

  const findNext = async (all: boolean): Promise<NextAction | undefined> => {
    const { control, batches, corrupt } = await log.overview();
    if (corrupt.length > 0) await log.removeCorrupt(corrupt);
    if (!maySend()) return { type: 'nothing', due: NEVER };
    const { wait, sender, revision } = control;
    if (isAhead(wait.until, now(), MAX_WAIT_MS)) return { type: 'waiting', wait };
    if (isOthers(control, tab, now())) return { type: 'busy', until: sender!.until };

    const [next] = batches
      .map((batch) => ({ batch, state: batchState(batch, now()) }))
      .filter(({ batch, state }) => state !== 'sending' && !userTokens.isPaused(batch.userId))
      .sort((a, b) => byTurn(a.batch, b.batch));
    if (next?.state === 'abandoned') return { type: 'abandoned', batch: next.batch };
    if (next) return lease(next.batch, revision);

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
    return lease(newBatch(first, newId()), revision);
  };

  return async (all: boolean): Promise<NextAction> => {
    for (;;) {
      const action = await findNext(all);
      if (action !== undefined) return action;
    }
  };
};
