import type { Notify } from '../notice.ts';
import { fingerprint, type Keyring } from '../platform/keyring.ts';
import type { StoreKey } from '../platform/store.ts';
import type { BatchDelivery } from './deliver.ts';
import type { Settled } from './event-moves.ts';
import type { Jotting } from './jottings.ts';
import type { Batch, Kept, WaitReason } from './records.ts';
import { createSenderLease, type SenderLeaseOptions, SUCCESSOR_MS } from './sender-lease.ts';
import type { Taken } from './take.ts';

/** A refused key is asked for again at most this often, unless the host or the page gives a reason. */
const ASK_KEY_MS = 5 * 60_000;
/** When the host's key function fails. */
const NO_KEY_MS = 30_000;
/** When the store fails, for example because the disk is full. */
const STORE_FAILED_MS = 30_000;

export interface SenderOptions extends SenderLeaseOptions {
  keyring: Keyring;
  /** Comes before every look at the queue. */
  prepare: () => Promise<void>;
  take: (options: { all: boolean }) => Promise<Taken>;
  /** Sends a leased batch and brings its outcome to disk. */
  send: (batch: Batch, key: string) => Promise<{ delivery: BatchDelivery; settled: Settled }>;
  /** Puts a leased batch back unsent. */
  giveBack: (batch: Batch) => Promise<void>;
  /** Brings to disk that a batch was never answered, since its tab is gone. */
  abandon: (batch: Batch) => Promise<void>;
  /** Stores what a page that is gone could not. */
  adopt: (jotting: Jotting) => Promise<void>;
  correct: (kept: Kept[]) => Promise<void>;
  quarantine: (keys: StoreKey[]) => Promise<void>;
  /** Whether this tab may send at all now. */
  isAllowed: () => boolean;
  /** Look again at this time (Unix milliseconds). */
  wakeAt: (time: number) => void;
  /** Nobody may send before `until`. */
  onWaiting: (wait: { until: number; reason: WaitReason }) => void;
  notify: Notify;
}

/** The loop of the one sending tab: take a batch, deliver it, settle it, until nothing is due. */
export const createSender = (options: SenderOptions) => {
  const { clock, ledger, keyring, prepare, take, send, giveBack, abandon, adopt } = options;
  const { correct, quarantine, isAllowed, wakeAt, onWaiting, notify } = options;
  let running: { all: boolean; again: boolean; delivered: number; done: Promise<number> } | undefined;
  let askKeyAt = 0;
  const { untilIdle, renew, release, othersIdle } = createSenderLease(options);

  /** The key to send with, or `undefined` while there is none that the server has not refused. */
  const usableKey = async (): Promise<string | undefined> => {
    const refused = ledger.known()?.refusedKey ?? null;
    if (refused !== null && clock.now() >= askKeyAt) {
      keyring.forget();
      askKeyAt = clock.now() + ASK_KEY_MS;
    }
    try {
      return await keyring.ask();
    } catch (error) {
      notify({ type: 'failed', kind: 'config', message: 'apiKey() failed; sending waits', cause: error });
      wakeAt(clock.now() + NO_KEY_MS);
      return undefined;
    }
  };

  /** A new key ends the wait that the old one caused, for all tabs. */
  const isNewKey = async (): Promise<boolean> => {
    const key = await usableKey();
    if (key === undefined || fingerprint(key) === ledger.known()?.refusedKey) return false;
    await ledger.step([], (meta) => {
      meta.refusedKey = null;
      meta.wait = { until: 0, reason: 'backoff', failures: 0, eased: false };
      return { writes: [], result: true };
    });
    return true;
  };

  const sendOne = async (batch: Batch, key: string): Promise<number> => {
    const stop = renew();
    try {
      const { delivery, settled } = await send(batch, key);
      if (delivery.type === 'rejected' && (delivery.status === 401 || delivery.status === 403)) {
        keyring.forget();
        askKeyAt = clock.now() + ASK_KEY_MS;
      }
      if (settled.toCorrect.length > 0) await correct(settled.toCorrect);
      return settled.delivered.length;
    } finally {
      stop();
    }
  };

  /** Does the next thing; false when there is nothing left to do now. */
  const step = async (run: NonNullable<typeof running>): Promise<boolean> => {
    if (!isAllowed()) return false;
    const key = await usableKey();
    if (key === undefined) return false;
    const taken = await take({ all: run.all });
    switch (taken.type) {
      case 'batch':
        // The user may have opted out while it was being leased: whoever ends requests under way did not find this one.
        if (!isAllowed()) {
          await giveBack(taken.batch);
          return false;
        }
        run.delivered += await sendOne(taken.batch, key);
        return true;
      case 'abandoned':
        await abandon(taken.batch);
        return true;
      case 'jotted':
        await adopt(taken.jotting);
        return true;
      case 'skipped':
        await correct(taken.kept);
        return true;
      case 'corrupt':
        await quarantine(taken.keys);
        return true;
      case 'busy':
        if (run.all) {
          await untilIdle(taken.until);
          return true;
        }
        wakeAt(taken.until + SUCCESSOR_MS);
        return false;
      case 'waiting': {
        if (taken.reason === 'unauthorized' && (await isNewKey())) return true;
        wakeAt(taken.reason === 'unauthorized' ? Math.min(taken.until, askKeyAt) : taken.until);
        onWaiting(taken);
        return false;
      }
      case 'nothing':
        if (taken.due !== null) wakeAt(taken.due);
        return false;
    }
  };

  const work = async (run: NonNullable<typeof running>): Promise<number> => {
    // Whoever started this run can still change it before its first step.
    await Promise.resolve();
    try {
      do {
        run.again = false;
        await prepare();
        while (await step(run));
        // The mark is given back within the loop: who asks meanwhile is heard by the next round.
        if (!run.again || !isAllowed()) await release();
      } while (run.again && isAllowed());
    } catch (error) {
      notify({ type: 'failed', kind: 'storage', message: 'the outbox could not be used', cause: error });
      wakeAt(clock.now() + STORE_FAILED_MS);
    } finally {
      running = undefined;
    }
    return run.delivered;
  };

  return {
    /** Sends what is due, or with `all` whatever waits. Calls during a run share it; answers how many were delivered. */
    run(all: boolean): Promise<number> {
      if (running !== undefined) {
        // The run may have looked for the last time already; one more look costs no request.
        running.again = true;
        running.all ||= all;
        return running.done;
      }
      const run = { all, again: false, delivered: 0, done: Promise.resolve(0) };
      running = run;
      run.done = work(run);
      return run.done;
    },
    othersIdle,
    /** There is a reason to ask the host for its key again. */
    askKey() {
      askKeyAt = 0;
    },
  };
};
