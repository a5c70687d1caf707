import {
  isAhead,
  LEASE_MS,
  LONGEST_ANSWER_MS,
  LONGEST_PAUSE_MS,
  LONGEST_WAIT_MS,
} from '../platform/deadline.ts';
import type { Store, StoreKey } from '../platform/store.ts';
import { isCorrupt } from './corrupt.ts';
import type { InDoubtPolicy } from './delivery-options.ts';
import { isJotting, type Jotting, ownersUntil } from './jottings.ts';
import type { Ledger } from './ledger.ts';
import {
  type Batch,
  batchKey,
  CONTROL_RANGE,
  type EventKey,
  isBatch,
  isMeta,
  type Kept,
  keyText,
  type Meta,
  readEvent,
  type StoredEvent,
  VERSION,
  type WaitReason,
} from './records.ts';
import { scanQueue } from './scan-queue.ts';
import { trackBody } from './track-body.ts';

/** Added to the request's timeout: after both, no answer can come any more. */
const ANSWER_MARGIN_MS = 5_000;

/** What there is to do next. */
export type Taken =
  /** Send this; it is leased to this tab. */
  | { type: 'batch'; batch: Batch; events: StoredEvent[] }
  /** Sent once, and no answer can come any more: its events are in doubt now. */
  | { type: 'abandoned'; batch: Batch }
  /** A page that is gone left these before they were stored. */
  | { type: 'jotted'; jotting: Jotting }
  /** Ask the host for a correction of these. */
  | { type: 'skipped'; kept: Kept[] }
  /** Nobody can read the records of these keys: put them aside. */
  | { type: 'corrupt'; keys: StoreKey[] }
  /** Another tab sends. */
  | { type: 'busy'; until: number }
  /** Nobody may send before `until`. */
  | { type: 'waiting'; until: number; reason: WaitReason }
  /** Nothing now; look again at `due` (Unix milliseconds), or when something new happens. */
  | { type: 'nothing'; due: number | null };

export interface TakeOptions {
  store: Store;
  ledger: Ledger;
  tab: string;
  now: () => number;
  newId: () => string;
  maxBatch: () => number;
  maxWaitMs: number;
  timeoutMs: number;
  inDoubt: Record<StoredEvent['type'], InDoubtPolicy>;
  /** Events that this page's last flush took, perhaps not on disk yet. */
  isTaken: (key: EventKey) => boolean;
  /** Whether this tab can ask for corrections; otherwise skipped events wait for one that can. */
  asksHost: boolean;
}

/** Until when an answer to a request sent now may come, in Unix milliseconds. */
export const answerUntil = (now: number, timeoutMs: number): number => now + timeoutMs + ANSWER_MARGIN_MS;

/** Batches never mix users, app versions or in-doubt policies. */
export const sameGroupBy =
  (inDoubt: TakeOptions['inDoubt']) =>
  (a: StoredEvent, b: StoredEvent): boolean =>
    a.userId === b.userId &&
    a.appId === b.appId &&
    a.appVersion === b.appVersion &&
    inDoubt[a.type] === inDoubt[b.type];

const isReady = ({ state, until }: Batch, now: number): boolean =>
  state === 'ready' || !isAhead(until, now, LONGEST_ANSWER_MS);
/** Batches under suspicion wait for the others; beyond that the oldest goes first. */
const byTurn = (a: Batch, b: Batch): number =>
  Number(a.suspects.length > 0) - Number(b.suspects.length > 0) ||
  a.keys[0]![2] - b.keys[0]![2] ||
  a.keys[0]![3] - b.keys[0]![3];

/** Finds what to send next, and leases it to this tab in one transaction. `all`: whether or not it is due. */
export const createTake = (options: TakeOptions) => {
  const { store, ledger, tab, now, newId, maxBatch, maxWaitMs, timeoutMs, inDoubt, isTaken } = options;
  const sameGroup = sameGroupBy(inDoubt);

  const isOthers = ({ sender }: Meta): boolean =>
    sender !== null && sender.tab !== tab && isAhead(sender.until, now(), LEASE_MS);
  const mayNotSend = (meta: Meta): boolean =>
    meta.consent === 'disabled' || isAhead(meta.wait.until, now(), LONGEST_WAIT_MS) || isOthers(meta);

  /** `undefined` when another step came between: look again. */
  const lease = (batch: Batch, seenBatches: number): Promise<Taken | undefined> => {
    let taken: Extract<Taken, { type: 'batch' }> | undefined;
    return ledger.step<Taken>([batchKey(batch.id), ...batch.keys], (meta, [stored, ...records]) => {
      // A lost connection asks twice, and the first time was committed after all.
      if (taken && isBatch(stored) && stored.attempt === taken.batch.attempt)
        return { writes: [], result: taken };
      if (mayNotSend(meta) || meta.batches !== seenBatches) return null;
      if (batch.attempt === '' && batch.keys.some(isTaken)) return null;
      const kept = batch.keys.flatMap((key, i): Kept[] => {
        const event = readEvent(records[i]);
        return typeof event === 'string' ? [] : [{ key, event }];
      });
      meta.batches += 1;
      // Purged or expired since: nothing is left to send.
      if (kept.length === 0)
        return { writes: [[batchKey(batch.id), undefined]], result: { type: 'nothing', due: now() } };
      const events = kept.map(({ event }) => event);
      const isWhole = kept.length === batch.keys.length;
      const leased: Batch = {
        ...batch,
        keys: kept.map(({ key }) => key),
        body: isWhole && batch.body !== '' ? batch.body : trackBody(events),
        state: 'sent',
        attempt: newId(),
        until: answerUntil(now(), timeoutMs),
      };
      meta.sender = { tab, until: now() + LEASE_MS };
      taken = { type: 'batch', batch: leased, events };
      return { writes: [[batchKey(batch.id), leased]], result: taken };
    });
  };

  const look = async (all: boolean): Promise<Taken | undefined> => {
    const entries = await store.entries<unknown>(CONTROL_RANGE);
    const control: unknown[] = [];
    const corrupt: StoreKey[] = [];
    for (const [key, record] of entries) {
      if (isCorrupt([key, record])) corrupt.push(key);
      else control.push(record);
    }
    // Without a meta record nothing can be put aside.
    if (corrupt.length > 0 && control.some(isMeta)) return { type: 'corrupt', keys: corrupt };
    const jottings = control
      .filter(isJotting)
      .map((jotting) => ({ jotting, due: ownersUntil(jotting, now()) }));
    const left = jottings.find(({ due }) => due <= now());
    if (left !== undefined) return { type: 'jotted', jotting: left.jotting };
    const taken = await lookAt(control, all);
    if (taken?.type !== 'nothing' || jottings.length === 0) return taken;
    return {
      type: 'nothing',
      due: Math.min(taken.due ?? Number.POSITIVE_INFINITY, ...jottings.map(({ due }) => due)),
    };
  };

  const lookAt = async (control: unknown[], all: boolean): Promise<Taken | undefined> => {
    const meta = control.find(isMeta);
    ledger.saw(meta);
    if (meta === undefined || meta.consent === 'disabled') return { type: 'nothing', due: null };
    const batches = control.filter(isBatch);
    if (meta.events === 0 && batches.length === 0) return { type: 'nothing', due: null };
    const { until, reason } = meta.wait;
    if (isAhead(until, now(), LONGEST_WAIT_MS)) return { type: 'waiting', until, reason };
    if (isOthers(meta)) return { type: 'busy', until: meta.sender!.until };

    const [ready] = batches.filter((batch) => isReady(batch, now())).sort(byTurn);
    if (ready?.state === 'sent' && !ready.doubt) return { type: 'abandoned', batch: ready };
    if (ready !== undefined) return lease(ready, meta.batches);

    const batched = new Set(batches.flatMap(({ keys, held }) => [...keys, ...held].map(keyText)));
    const scan = await scanQueue({
      store,
      now: now(),
      longestPauseMs: Math.max(maxWaitMs, LONGEST_PAUSE_MS),
      maxBatch: maxBatch(),
      sameGroup,
      isTaken: (key) => batched.has(keyText(key)) || isTaken(key),
    });
    if (scan.corrupt.length > 0) return { type: 'corrupt', keys: scan.corrupt };
    if (options.asksHost && scan.skipped.length > 0) return { type: 'skipped', kept: scan.skipped };

    const inFlight = batches.map((batch) => batch.until);
    const [oldest] = scan.group;
    if (oldest === undefined) {
      const later = [...inFlight, ...(scan.due === null ? [] : [scan.due])];
      return { type: 'nothing', due: later.length > 0 ? Math.min(...later) : null };
    }
    const age = now() - oldest.event.time;
    // Far in the future means that the clock was set back since: such an event has waited long enough.
    if (!all && scan.pending < maxBatch() && Math.abs(age) < maxWaitMs)
      return { type: 'nothing', due: oldest.event.time + maxWaitMs };
    const fresh: Batch = {
      v: VERSION,
      id: newId(),
      keys: scan.group.map(({ key }) => key),
      held: [],
      suspects: [],
      body: '',
      state: 'ready',
      attempt: '',
      until: 0,
      doubt: false,
    };
    return lease(fresh, meta.batches);
  };

  return async ({ all }: { all: boolean }): Promise<Taken> => {
    for (;;) {
      const taken = await look(all);
      if (taken !== undefined) return taken;
    }
  };
};
