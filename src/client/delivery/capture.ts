import { MAX_BUTTON_ID } from '../../protocol/index.ts';
import type { BannerEvent } from '../banner.ts';
import type { Clock } from '../platform/clock.ts';
import { CLOCK_JUMP_MS } from '../platform/pauses.ts';
import type { CapturedEvent } from './delivery.ts';
import { MAX_TRANSACTION_RECORDS, SCHEMA_VERSION } from './limits.ts';
import { createAppend, type NewLogEvent } from './log/log.ts';
import { bannerEvent, hasRequiredFields, isButtonId, isText } from './log/records.ts';
import type { PageExit } from './page-exit.ts';
import type { Outbox } from './sender/sender.ts';

/**
 * Maximum clock drift that event times ignore. A larger one means that the user set the clock or the device slept, so event times
 * follow the device.
 */
const DRIFT_MS = 100;

/**
 * Creates the function that assigns event times, in Unix milliseconds. Times follow call order, and are unique per natural key
 * (user, banner, type).
 *
 * Times are the monotonic clock plus an offset, so they keep their order if the device's clock is set back by some minutes. The
 * offset follows a clock that is ahead, because a monotonic clock may stop while the device sleeps, and one that is set back by
 * more than `CLOCK_JUMP_MS`, because it was wrong before.
 */
export const createEventTimes = ({ now, monotonic }: Clock) => {
  /** Device time when the monotonic clock was 0. */
  let offset = now() - monotonic();
  let lastTime = 0;
  /** Natural keys in use at `lastTime`. */
  let keys = new Set<string>();

  /** `at` is device time. The clock may have been set back since, so only the age of the event is used. */
  return (at: number, naturalKey: string): number => {
    const device = now();
    const counted = offset + monotonic();
    const isSetBack = device < counted - CLOCK_JUMP_MS;
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

interface PendingCapture {
  event: CapturedEvent;
  /** Device time, in Unix milliseconds. */
  at: number;
  resolve: (event: BannerEvent | null) => void;
}

/**
 * Appends the events of a task to the log in one write, and each event with a deduplication name in a transaction of its own,
 * which reads first. Other appends do not read, because the page may be about to navigate.
 */
export const createCapture = ({ context, log, sender }: Outbox, pageExit: PageExit) => {
  const { appId, appVersion, permission, clock, pageId, lifecycle, notify, fail } = context;
  const getTime = createEventTimes(clock);
  const append = createAppend(context, log);
  let queue: PendingCapture[] = [];
  /** Set while queued events are being written, or wait for earlier work. */
  let appending: Promise<void> | undefined;
  let sequence = 0;

  const toNewLogEvent = ({ event, at }: PendingCapture): NewLogEvent => {
    const { type, bannerId, userId, dedupName } = event;
    const time = getTime(at, `${userId}\n${bannerId}\n${type}`);
    sequence += 1;
    return {
      key: ['event', SCHEMA_VERSION, time, pageId, sequence],
      event: {
        v: SCHEMA_VERSION,
        ...bannerEvent({ ...event, time }),
        appId,
        appVersion,
        attempts: 0,
      },
      dedupName,
    };
  };

  /**
   * Removes events that were captured after an opt-out or wipe that this page missed (in another tab or on an earlier visit).
   * Returns the other events.
   */
  const removeForbidden = async (kept: NewLogEvent[]): Promise<NewLogEvent[]> => {
    const state = await log.state();
    const isMissed =
      state.consent !== 'enabled' && !permission.mayAct() && !permission.isOwn(state.decidedAt);
    const isForbidden = ({ event }: NewLogEvent): boolean =>
      !permission.mayStorePending() || (isMissed && event.time > state.decidedAt);
    const forbidden = kept.filter(isForbidden);
    if (forbidden.length > 0)
      await log.remove(forbidden).catch((cause) => fail('storage', 'Event log unavailable', cause));
    return kept.filter((entry) => !forbidden.includes(entry));
  };

  const onStored = (kept: NewLogEvent[]): void => {
    log.addUnsent(kept);
    for (const { event } of kept) notify({ type: 'tracked', event: bannerEvent(event) });
    if (!lifecycle.isVisible()) pageExit.flushOnExit();
    sender.onAppended();
  };

  const finish = async (
    waiting: PendingCapture[],
    entries: NewLogEvent[],
    stored: Promise<NewLogEvent[]>,
  ): Promise<void> => {
    let kept = await stored;
    try {
      if (kept.length > 0) kept = await removeForbidden(kept);
      if (kept.length > 0) onStored(kept);
    } catch (cause) {
      fail('storage', 'Event log unavailable', cause);
    }
    const events = new Map(kept.map((item) => [item, bannerEvent(item.event)]));
    waiting.forEach(({ resolve }, i) => {
      resolve(events.get(entries[i]!) ?? null);
    });
  };

  const store = async (waiting: PendingCapture[]): Promise<void> => {
    // The user opted out after the call, so pending captures are discarded.
    if (!permission.mayStorePending()) {
      for (const { resolve } of waiting) resolve(null);
      return;
    }
    const entries = waiting.map(toNewLogEvent);
    const stored = append(entries);
    void finish(waiting, entries, stored);
    await stored;
  };

  const appendQueue = async (own: PendingCapture[]): Promise<void> => {
    while (own.length > 0) await store(own.splice(0, MAX_TRANSACTION_RECORDS));
    if (own === queue) appending = undefined;
  };

  /**
   * Runs `work` between the events captured before and after this call. `isDiscarding` discards the events that are not written
   * yet.
   */
  const runInOrder = (work: () => Promise<void>, isDiscarding: boolean): Promise<void> => {
    if (isDiscarding) for (const { resolve } of queue.splice(0)) resolve(null);
    const done = Promise.resolve(appending).then(work);
    const own: PendingCapture[] = [];
    queue = own;
    appending = done.catch(() => undefined).then(() => appendQueue(own));
    return done;
  };

  const capture = (event: CapturedEvent): Promise<BannerEvent | null> => {
    const isAllowed = event.wasAllowed ? permission.mayStorePending() : permission.isActive();
    if (!isAllowed) return Promise.resolve(null);
    // An invalid event would fail the whole write, including all other events in it.
    if (!hasRequiredFields(event)) {
      fail('config', 'Invalid event: type, banner, placement and user must be strings');
      return Promise.resolve(null);
    }
    const { buttonId } = event;
    if (isText(buttonId) && buttonId !== '' && !isButtonId(buttonId))
      fail('config', `buttonId is longer than ${MAX_BUTTON_ID} characters: stored without it`);
    return new Promise((resolve) => {
      queue.push({ event, at: event.at ?? clock.now(), resolve });
      // Runs after this task's calls. Not `queueMicrotask`, because it leaves the script engine and costs more than the rest of
      // this function.
      appending ??= Promise.resolve(queue).then(appendQueue);
    });
  };

  return { capture, runInOrder };
};

export type Capture = ReturnType<typeof createCapture>;
