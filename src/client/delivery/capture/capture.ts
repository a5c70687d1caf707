import type { BannerEvent } from '../../banner-event.ts';
import type { DeliveryContext } from '../context.ts';
import type { CapturedEvent } from '../delivery.ts';
import {
  bannerEvent,
  type Entry,
  type EventKey,
  isWhole,
  type Log,
  type QueuedEvent,
  type StoredEvent,
  VERSION,
} from '../log/index.ts';
import type { RetryOnQuota } from '../log/retry-on-quota.ts';
import { createEventTimes } from './event-times.ts';

/** Events in one transaction: some milliseconds of work, so that a burst never blocks the page. */
const SLICE = 200;

interface Waiting {
  event: CapturedEvent;
  /** By the device's clock. */
  at: number;
  resolve: (event: BannerEvent | null) => void;
}

/**
 * Appends events to the log in the order of the calls. Calls of one task are written together; a call itself only puts
 * the event in line. Before a navigation each turn counts: nothing is read before the write.
 */
export const createCapture = (
  context: DeliveryContext,
  log: Log,
  retryOnQuota: RetryOnQuota,
  onStored: (kept: QueuedEvent[]) => void,
) => {
  const { api, consent, clock, tab, fail, isStopped } = context;
  const timeOf = createEventTimes(clock);
  const line: Waiting[] = [];
  let isAppending = false;
  let sequence = 0;

  const entryOf = ({ event, at }: Waiting): Entry => {
    const { type, bannerId, placementId, userId, once } = event;
    const { appId, appVersion } = api;
    const time = timeOf(at, `${userId}\n${bannerId}\n${type}`);
    sequence += 1;
    return {
      key: ['event', VERSION, time, tab, sequence],
      event: { v: VERSION, type, bannerId, placementId, userId, time, appId, appVersion, attempts: 0 },
      once,
    };
  };

  /** Returns whether it was stored. Each is tried again alone: the earlier write may already be sent. */
  const attempt = async (write: () => Promise<unknown>): Promise<boolean> => {
    try {
      return (await retryOnQuota(write)) !== false;
    } catch (cause) {
      fail('storage', 'An event could not be stored', cause);
      return false;
    }
  };

  /** Returns what was stored. The blind write comes first. */
  const append = async (entries: Entry[]): Promise<Entry[]> => {
    const kept: Entry[] = [];
    const blind = entries.filter(({ once }) => once === undefined);
    const records = blind.map(({ key, event }): [EventKey, StoredEvent] => [key, event]);
    if (records.length > 0 && (await attempt(() => log.write(records)))) kept.push(...blind);
    for (const entry of entries) {
      const { once } = entry;
      if (once !== undefined && (await attempt(() => log.writeOnce(entry, once)))) kept.push(entry);
    }
    return kept;
  };

  /** A tab that was away may have missed an opt-out or a wipe. Events that it stored after that are removed again. */
  const isStillAllowed = async (kept: Entry[]): Promise<boolean> => {
    await log.control();
    if (consent.mayFinish()) return true;
    await log.remove(kept);
    return false;
  };

  const finish = async (waiting: Waiting[], entries: Entry[], stored: Promise<Entry[]>): Promise<void> => {
    let kept = await stored;
    try {
      if (kept.length > 0 && (await isStillAllowed(kept))) onStored(kept);
      else kept = [];
    } catch (cause) {
      fail('storage', 'The log could not be used', cause);
    }
    const events = new Map(kept.map((item) => [item, bannerEvent(item.event)]));
    waiting.forEach(({ resolve }, i) => {
      resolve(events.get(entries[i]!) ?? null);
    });
  };

  const store = async (waiting: Waiting[]): Promise<void> => {
    // The user opted out after the call, and wants it forgotten.
    if (!consent.mayFinish()) {
      for (const { resolve } of waiting) resolve(null);
      return;
    }
    const entries = waiting.map(entryOf);
    const stored = append(entries);
    void finish(waiting, entries, stored);
    await stored;
  };

  const appendLine = async (): Promise<void> => {
    while (line.length > 0) await store(line.splice(0, SLICE));
    isAppending = false;
  };

  return (event: CapturedEvent): Promise<BannerEvent | null> => {
    const isAllowed = event.wasAllowed ? consent.mayFinish() : consent.mayAct();
    if (isStopped() || !isAllowed) return Promise.resolve(null);
    // Its write would fail, and the events beside it in the same write would be lost.
    if (!isWhole(event)) {
      fail('config', 'An event needs a type, a banner, a placement and a user, each a text');
      return Promise.resolve(null);
    }
    return new Promise((resolve) => {
      line.push({ event, at: event.at ?? clock.now(), resolve });
      if (isAppending) return;
      isAppending = true;
      // After this task's calls; `queueMicrotask` leaves the script engine and costs more than all the rest here.
      void Promise.resolve().then(appendLine);
    });
  };
};
