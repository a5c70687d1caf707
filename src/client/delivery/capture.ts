import type { BannerEvent } from '../banner.ts';
import type { Clock } from '../platform/clock.ts';
import { LEAP_MS } from '../platform/waits.ts';
import type { CapturedEvent } from './delivery.ts';
import type { Leaving } from './leaving.ts';
import { VERSION } from './limits.ts';
import type { Entry } from './log/log.ts';
import { bannerEvent, type EventKey, isWhole, type StoredEvent } from './log/records.ts';
import type { Outbox } from './outbox.ts';

/** Where the device's clock is ahead of ours by more than this, someone has set it or the computer has slept: event times follow it. */
const DRIFT_MS = 100;

/**
 * Gives the events of this page their times, in Unix milliseconds: in the order of the calls, and no two events of one
 * natural key (user, banner, type) the same one.
 *
 * Times are the monotonic clock plus an offset, so they keep order when the device's clock is set back by some minutes. Where
 * that one goes ahead the offset follows: a monotonic clock may stand still while the computer sleeps. Where it is set back by
 * more, it was wrong before, and the offset follows too.
 */
export const createEventTimes = ({ now, monotonic }: Clock) => {
  /** What the device's clock showed when the monotonic one stood at 0. */
  let offset = now() - monotonic();
  let lastTime = 0;
  /** The natural keys of the events that have this time. */
  let keys = new Set<string>();

  /** `at` is a time of the device's clock. That one may have been set back since, but an age is true on either clock. */
  return (at: number, naturalKey: string): number => {
    const device = now();
    const counted = offset + monotonic();
    const isSetBack = device < counted - LEAP_MS;
    if (isSetBack || device > counted + DRIFT_MS) offset = device - monotonic();
    if (isSetBack) lastTime = 0;
    const ordered = Math.floor(offset + monotonic() - Math.max(0, device - at));
    const isUsed = ordered <= lastTime && keys.has(naturalKey);
    const time = Math.max(ordered, lastTime + Number(isUsed));
    if (time > lastTime) {
      lastTime = time;
      keys = new Set();
    }
    keys.add(naturalKey);
    return time;
  };
};

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
export const createCapture = ({ context, log, upkeep, sender }: Outbox, leaving: Leaving) => {
  const { api, consent, clock, tab, lifecycle, notify, fail, isStopped } = context;
  const timeOf = createEventTimes(clock);
  let line: Waiting[] = [];
  /** What is in line is being written, or waits for work before it. */
  let appending: Promise<void> | undefined;
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

  /** Returns whether they were stored. Each write is tried again alone: the earlier one may already be sent. */
  const attempt = async (entries: Entry[], write: () => Promise<unknown>): Promise<boolean> => {
    try {
      const isStored = (await upkeep.retryOnQuota(write, entries)) !== false;
      // The client has stopped, and what is in memory ends with it.
      return isStored && !(isStopped() && log.place.isMemory());
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
    if (records.length > 0 && (await attempt(blind, () => log.write(records)))) kept.push(...blind);
    for (const entry of entries) {
      const { once } = entry;
      if (once !== undefined && (await attempt([entry], () => log.writeOnce(entry, once)))) kept.push(entry);
    }
    return kept;
  };

  /**
   * Returns the events that may stay. A tab that was away may have missed an opt-out or a wipe, and a new page does not know that of
   * an earlier visit. Events that it stored after that are removed again.
   */
  const removeForbidden = async (kept: Entry[]): Promise<Entry[]> => {
    const control = await log.control();
    const isMissed = control.consent !== 'enabled' && !consent.mayAct() && !consent.isOwn(control.chosenAt);
    const isForbidden = ({ event }: Entry): boolean =>
      !consent.mayFinish() || (isMissed && event.time > control.chosenAt);
    const forbidden = kept.filter(isForbidden);
    if (forbidden.length > 0)
      await log.remove(forbidden).catch((cause) => fail('storage', 'The log could not be used', cause));
    return kept.filter((entry) => !forbidden.includes(entry));
  };

  const onStored = (kept: Entry[]): void => {
    log.unsent.add(kept);
    upkeep.appended(kept);
    for (const { event } of kept) notify({ type: 'tracked', event: bannerEvent(event) });
    if (!lifecycle.isVisible()) leaving.leave();
    sender.onAppended();
  };

  const finish = async (waiting: Waiting[], entries: Entry[], stored: Promise<Entry[]>): Promise<void> => {
    let kept = await stored;
    try {
      if (kept.length > 0) kept = await removeForbidden(kept);
      if (kept.length > 0) onStored(kept);
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

  const appendLine = async (own: Waiting[]): Promise<void> => {
    while (own.length > 0) await store(own.splice(0, SLICE));
    if (own === line) appending = undefined;
  };

  /** Runs `work` after what was captured so far is written, or forgotten, and before what is captured from now on. */
  const inTurn = (work: () => Promise<void>, isForgetting: boolean): Promise<void> => {
    if (isForgetting) for (const { resolve } of line.splice(0)) resolve(null);
    const done = Promise.resolve(appending).then(work);
    const own: Waiting[] = [];
    line = own;
    appending = done.catch(() => undefined).then(() => appendLine(own));
    return done;
  };

  const capture = (event: CapturedEvent): Promise<BannerEvent | null> => {
    const isAllowed = event.wasAllowed ? consent.mayFinish() : consent.mayAct() && !isStopped();
    if (!isAllowed) return Promise.resolve(null);
    // The write of such an event would fail, and the events in the same write would be lost.
    if (!isWhole(event)) {
      fail('config', 'An event needs a type, a banner, a placement and a user, each a text');
      return Promise.resolve(null);
    }
    return new Promise((resolve) => {
      line.push({ event, at: event.at ?? clock.now(), resolve });
      // After this task's calls; `queueMicrotask` leaves the script engine and costs more than all the rest here.
      appending ??= Promise.resolve(line).then(appendLine);
    });
  };

  return { capture, inTurn };
};

export type Capture = ReturnType<typeof createCapture>;
