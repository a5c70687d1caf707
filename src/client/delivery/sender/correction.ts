import { EVENT_TYPES } from '../../../protocol/index.ts';
import type { BannerEvent } from '../../banner-event.ts';
import { withTimeout } from '../../platform/timeout.ts';
import type { DeliveryContext } from '../context.ts';
import {
  bannerEvent,
  type EventKey,
  isTime,
  isWhole,
  type Log,
  type QueuedEvent,
  readEvent,
  type StoredEvent,
  toDeadLetter,
} from '../log/index.ts';

/** How long the host may think about one event. */
const ANSWER_MS = 10_000;

const isEvent = (event: BannerEvent): boolean =>
  isWhole(event) &&
  EVENT_TYPES.includes(event.type) &&
  event.bannerId !== '' &&
  Number.isSafeInteger(event.time) &&
  isTime(event.time);

const SAME: (keyof BannerEvent)[] = ['type', 'bannerId', 'placementId', 'time'];

/** Has the host decide about skipped events, one by one in their order, and brings its decision to disk. */
export const createCorrection = (context: DeliveryContext, log: Log, onGone: (keys: EventKey[]) => void) => {
  const { host, clock, notify, fail, options } = context;
  const { correct = (event: BannerEvent) => event } = host;

  /** What the host wants: a changed event, the same one, or `null` to give it up. */
  const ask = async (event: StoredEvent): Promise<BannerEvent | null> => {
    const current = bannerEvent(event);
    const skip = { reason: event.skip ?? '', attempts: event.attempts };
    try {
      const work = correct({ ...current }, skip);
      const answer = await withTimeout(work, clock.after, ANSWER_MS, 'correct()');
      if (answer === null) return null;
      if (answer === undefined || !isEvent(answer)) {
        fail('correct', 'correct() returned no event: the event is sent as it is');
        return current;
      }
      if (answer.userId !== current.userId) {
        fail('correct', 'correct() cannot change whose event it is: userId is kept');
      }
      return { ...bannerEvent(answer), userId: current.userId };
    } catch (cause) {
      fail('correct', 'correct() failed: the event is sent as it is', cause);
      return current;
    }
  };

  const decide = async ({ key, event }: QueuedEvent): Promise<void> => {
    const answer = await ask(event);
    const reason = event.skip ?? '';
    let isGivenUp = false;
    await log.step([key], (_, [stored]) => {
      isGivenUp = false;
      const now = readEvent(stored);
      if (now?.skip === undefined || now.attempts !== event.attempts) return null;
      if (answer === null) {
        isGivenUp = true;
        return toDeadLetter({ key, event: now }, reason);
      }
      const { skip: _answered, ...rest } = now;
      const next: StoredEvent = { ...rest, ...answer };
      // The server would skip the same event again at once, but perhaps not a little later.
      if (SAME.every((name) => next[name] === now[name])) next.after = clock.now() + options.maxWaitMs;
      return [[key, next]];
    });
    if (!isGivenUp) return;
    onGone([key]);
    notify({ type: 'dropped', event: bannerEvent(event), reason: 'rejected', detail: reason });
  };

  return async (kept: QueuedEvent[]): Promise<void> => {
    for (const item of kept) await decide(item);
  };
};

export type AskForCorrections = ReturnType<typeof createCorrection>;
