import { isPausing } from '../platform/waits.ts';
import type { DeliveryContext } from './delivery.ts';
import type { Log } from './log/log.ts';
import { claimKey, isAlone } from './log/records.ts';
import { EVENT_VALUE } from './log/upkeep.ts';
import { byTime, planBatches } from './sender/batches.ts';
import { newClaim } from './sender/claim.ts';
import type { Sender } from './sender/sender.ts';

/**
 * The tag of the background sync, and the messages between a page and the service worker that sends for it. All name the
 * log: the page's worker may be another app's, which would send nothing of this one. A worker without user tokens does not
 * answer a page with them: the service would refuse what it sends.
 */
export const handOffMessages = (log: string, hasTokens: boolean) => ({
  syncTag: log,
  areYouThere: `${log}: are you there${hasTokens ? ' with tokens' : ''}?`,
  here: `${log}: here`,
  send: `${log}: send`,
});

interface Registration {
  scope: string;
  sync?: { register(tag: string): Promise<void> };
}

/** What of `navigator.serviceWorker` is used. */
export interface WorkerContainer {
  controller: { postMessage(message: unknown): void } | null;
  ready: Promise<Registration>;
  addEventListener(type: string, listener: (event: { data?: unknown }) => void): void;
  removeEventListener(type: string, listener: (event: { data?: unknown }) => void): void;
}

/** Chromium throws where a document is sandboxed without `allow-same-origin`: it has no workers. */
const containerOfPage = (): WorkerContainer | undefined => {
  try {
    return globalThis.navigator?.serviceWorker;
  } catch {
    return undefined;
  }
};

/**
 * Lets the service worker send when the page goes: it outlives the page and reads the answers, so nothing is left in
 * doubt. A worker counts only after it said that it holds the sender of this log; the host registers it, or not.
 */
export const createHandOff = (
  log: string,
  hasTokens: boolean,
  container: WorkerContainer | undefined = containerOfPage(),
) => {
  const { syncTag, areYouThere, here, send } = handOffMessages(log, hasTokens);
  let isThere = false;
  const ask = () => {
    isThere = false;
    container?.controller?.postMessage(areYouThere);
  };
  const listen = ({ data }: { data?: unknown }) => {
    if (data === here) isThere = true;
  };
  container?.addEventListener('message', listen);
  container?.addEventListener('controllerchange', ask);
  ask();

  return {
    /** Has the worker send what is stored; false where there is none. */
    handOff(): boolean {
      if (!isThere || !container?.controller) return false;
      container.controller.postMessage(send);
      // Should the worker not get through now, the browser wakes it when the network is back.
      void container.ready
        .then((registration) => registration.sync?.register(syncTag))
        .catch(() => {
          // Background sync may be denied; the events then leave with the next page.
        });
      return true;
    },
    stop() {
      container?.removeEventListener('message', listen);
      container?.removeEventListener('controllerchange', ask);
    },
  };
};

/** What a page does when it may not come back: a service worker that outlives it sends the rest, or it does so itself. */
export const createLeaving = (context: DeliveryContext, log: Log, sender: Sender) => {
  const { api, tab, clock, lifecycle, options, userTokens, fail, canSend } = context;
  const worker = createHandOff(api.logName, userTokens.isUsed);
  /** The last flushes that are not answered yet. */
  let underWay = Promise.resolve(0);

  /**
   * The requests leave at once, from memory, as keepalive fetches (a beacon carries no Authorization header, and its
   * answer cannot be read), the most valuable events first. The claims are written without waiting, so that a later page
   * knows what is in doubt. What does not fit the budget stays stored, and so does what may be sent only once: until its
   * claim is written, another tab or page may send it as well. Resolves with how many events were delivered.
   */
  const lastFlush = async (): Promise<number> => {
    const { wait } = log.lastControl();
    const key = sender.key();
    const isOthers = log.lastClaims().some((each) => each.tab !== tab && isAlone(each, clock.now()));
    if (key === undefined || isOthers || isPausing(wait, clock.now()) || !canSend()) return 0;
    const byValue = log.unsent
      .waiting()
      .filter(({ event: { userId, type } }) => {
        const mayRepeat = options.inDoubt[type] !== 'at-most-once';
        return mayRepeat && userTokens.isReady(userId) && !userTokens.isPaused(userId);
      })
      .sort((a, b) => EVENT_VALUE[b.event.type] - EVENT_VALUE[a.event.type] || byTime(a, b));
    const plan = planBatches(byValue, sender.budgetLeft(), sender.limit(), context);
    if (plan.length === 0) return 0;
    const claimed = plan.map((batch) => newClaim(context, batch, 0));
    // Unwritten claims only lose their mark: the events are stored, and the next page sends them again.
    const written = log.write(claimed.map(({ claim }) => [claimKey(claim.id), claim])).catch(() => undefined);
    // One after the other, and all in this turn: the page may not get another one.
    const sent = Promise.all(claimed.map((one) => sender.sendLast(one, key)));
    const [delivered] = await Promise.all([sent, written]);
    return delivered.reduce((sum, count) => sum + count, 0);
  };

  const leave = (): void => {
    // What lies in this page's memory the worker cannot see.
    if (!log.place.isMemory() && canSend() && worker.handOff()) return;
    // What a page keeps in memory ends with it, so what was refused or in doubt goes out once more.
    const flushing = log.place.isMemory() ? sender.tryAgain().then(lastFlush) : lastFlush();
    const flushed = Promise.all([underWay, flushing]).then(
      ([before, now]) => before + now,
      (cause) => {
        fail('storage', 'The last flush failed', cause);
        return 0;
      },
    );
    underWay = flushed;
    void flushed.then(() => {
      if (underWay === flushed) underWay = Promise.resolve(0);
    });
  };
  const stops = [lifecycle.on('hidden', leave), lifecycle.on('leave', leave)];

  return {
    leave,
    /** How many events the flushes under way deliver. */
    delivered: () => underWay,
    stop(): void {
      worker.stop();
      for (const stop of stops) stop();
    },
  };
};

export type Leaving = ReturnType<typeof createLeaving>;
