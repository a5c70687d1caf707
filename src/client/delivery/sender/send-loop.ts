import { fingerprint, type Keyring } from '../../platform/keyring.ts';
import { type Batch, batchKey, isBatch, type Kept, type Log, noWait, type Wait } from '../log/index.ts';
import type { DeliveryPage } from '../page.ts';
import type { NextAction } from './lease-next.ts';
import type { Scheduler } from './scheduler.ts';
import type { SendBatch } from './send-batch.ts';

/** While the server refuses the key, the host's function is asked for another one this often, and at each sign of life. */
const ASK_KEY_MS = 5 * 60_000;
/** When the host's key function fails, or the log, for example because the disk is full. */
const RETRY_MS = 30_000;
/** How long after another tab's lease this one tries. */
const SUCCESSOR_MS = 50;

export interface SendLoopOptions {
  log: Log;
  page: DeliveryPage;
  keyring: Keyring;
  leaseNext: (all: boolean) => Promise<NextAction>;
  batches: Pick<SendBatch, 'send' | 'abandon'>;
  scheduler: Pick<Scheduler, 'at'>;
  tasks: {
    /** Whether this tab may send at all now. */
    isAllowed: () => boolean;
    /** Comes before every look at the queue. */
    tidy: () => Promise<void>;
    correct: (kept: Kept[]) => Promise<void>;
  };
}

interface Run {
  all: boolean;
  again: boolean;
  delivered: number;
  done: Promise<number>;
}

/** The loop of the one sending tab: lease a batch, send it, settle it, until nothing is due. */
export const createSendLoop = (options: SendLoopOptions) => {
  const { log, page, keyring, leaseNext, batches, scheduler, tasks } = options;
  const { clock, news, notify, fail } = page;
  const { isAllowed, tidy, correct } = tasks;
  let running: Run | undefined;
  let announcedUntil = 0;

  /** The key to send with, or `undefined` while there is none. */
  const usableKey = async (): Promise<string | undefined> => {
    if (log.known().refusedKey !== null) keyring.forget();
    try {
      return await keyring.ask();
    } catch (cause) {
      notify({ type: 'failed', kind: 'config', message: 'apiKey() failed; sending waits', cause });
      scheduler.at(clock.now() + RETRY_MS);
      return undefined;
    }
  };

  /** A new key ends the wait that the old one caused, for all tabs. */
  const endWait = async (key: string): Promise<boolean> => {
    if (fingerprint(key) === log.known().refusedKey) return false;
    await log.step([], (control) => {
      control.refusedKey = null;
      control.wait = noWait();
      return [];
    });
    return true;
  };

  /** Puts a leased batch back unsent: the next one may send it at once, and it is not in doubt. */
  const release = ({ id, until }: Batch): Promise<void> =>
    log.step([batchKey(id)], (_, [stored]) =>
      isBatch(stored) && stored.until === until ? [[batchKey(id), { ...stored, until: 0 }]] : null,
    );

  /** Resolves when the tab that sends has an answer, at `until` at the latest. */
  const untilFree = (until: number): Promise<void> =>
    new Promise((resolve) => {
      const wake = () => {
        stop();
        cancel();
        resolve();
      };
      const stop = news.subscribe(({ type }) => type === 'idle' && wake());
      const cancel = clock.after(Math.max(0, until - clock.now()) + SUCCESSOR_MS, wake);
    });

  /** Each wait is told once. */
  const announce = ({ until, reason }: Wait): void => {
    if (announcedUntil !== until) notify({ type: 'waiting', untilMs: until, reason });
    announcedUntil = until;
  };

  /** Does the next thing; false when there is nothing left to do now. */
  const step = async (run: Run): Promise<boolean> => {
    if (!isAllowed()) return false;
    const key = await usableKey();
    if (key === undefined) return false;
    const action = await leaseNext(run.all);
    switch (action.type) {
      case 'send':
        // The user may have opted out while it was being leased: there was no request to end yet.
        if (!isAllowed()) {
          await release(action.batch);
          return false;
        }
        run.delivered += await batches.send(action, key);
        return true;
      case 'abandoned':
        await batches.abandon(action.batch);
        return true;
      case 'correct':
        await correct(action.kept);
        return true;
      case 'busy':
        if (!run.all) {
          scheduler.at(action.until + SUCCESSOR_MS);
          return false;
        }
        await untilFree(action.until);
        return true;
      case 'waiting': {
        const { until, reason } = action.wait;
        const isRefused = reason === 'unauthorized';
        if (isRefused && (await endWait(key))) return true;
        scheduler.at(isRefused ? Math.min(until, clock.now() + ASK_KEY_MS) : until);
        announce(action.wait);
        return false;
      }
      case 'nothing':
        scheduler.at(action.due);
        return false;
    }
  };

  const work = async (run: Run): Promise<number> => {
    // The caller can still change this run before its first step.
    await Promise.resolve();
    try {
      do {
        run.again = false;
        await tidy();
        while (await step(run));
      } while (run.again && isAllowed());
    } catch (cause) {
      fail('The log could not be used', cause);
      scheduler.at(clock.now() + RETRY_MS);
    } finally {
      running = undefined;
    }
    return run.delivered;
  };

  return {
    /** Sends what is due, or with `all` whatever waits. Calls during a run share it; returns how many were delivered. */
    run(all: boolean): Promise<number> {
      if (running !== undefined) {
        // The run may have looked for the last time already; one more look costs no request.
        running.again = true;
        running.all ||= all;
        return running.done;
      }
      const run: Run = { all, again: false, delivered: 0, done: Promise.resolve(0) };
      running = run;
      run.done = work(run);
      return run.done;
    },
  };
};
