import { EVENT_TYPES } from '../../protocol/index.ts';
import type { BannerEvent } from '../banner-event.ts';
import type { Notify } from '../notice.ts';
import type { Correct } from '../options.ts';
import type { Clock } from '../platform/clock.ts';
import { inTime } from '../platform/in-time.ts';
import { bury } from './event-moves.ts';
import type { Ledger } from './ledger.ts';
import { bannerEvent, bytesOf, type EventKey, type Kept, readEvent, type StoredEvent } from './records.ts';

/** How long the host may think about one event. */
const ANSWER_MS = 10_000;

export interface CorrectionOptions {
  ledger: Ledger;
  clock: Clock;
  correct: Correct | undefined;
  /** How long an uncorrected event waits before it goes out again. */
  maxWaitMs: number;
  notify: Notify;
  /** Called with events that left the queue. */
  onGone: (keys: EventKey[]) => void;
}

const isEvent = (event: BannerEvent): boolean =>
  (EVENT_TYPES as readonly string[]).includes(event.type) &&
  typeof event.bannerId === 'string' &&
  event.bannerId !== '' &&
  typeof event.placementId === 'string' &&
  Number.isSafeInteger(event.time) &&
  Math.abs(event.time) <= 8.64e15;

/** Asks the host about skipped events, one by one in their order, and brings its decision to disk. */
export const createCorrection = ({
  ledger,
  clock,
  correct = (event) => event,
  maxWaitMs,
  notify,
  onGone,
}: CorrectionOptions) => {
  const complain = (message: string, cause?: unknown) =>
    notify({ type: 'failed', kind: 'correct', message, ...(cause !== undefined && { cause }) });

  /** What the host wants: a changed event, the same one, or `null` to give it up. */
  const ask = async (event: StoredEvent): Promise<BannerEvent | null> => {
    const asked = bannerEvent(event);
    try {
      const answer = await inTime(
        correct({ ...asked }, { reason: event.skip ?? '', attempts: event.attempts }),
        clock.after,
        ANSWER_MS,
        'correct()',
      );
      if (answer === null) return null;
      if (answer === undefined || !isEvent(answer)) {
        complain('correct() answered something that is no event; the event is sent again as it is');
        return asked;
      }
      if (answer.userId !== asked.userId) {
        complain('correct() cannot change whose event it is; userId is kept');
      }
      return { ...answer, userId: asked.userId };
    } catch (error) {
      complain('correct() failed; the event is sent again as it is', error);
      return asked;
    }
  };

  const decide = async ({ key, event }: Kept): Promise<void> => {
    const answer = await ask(event);
    const reason = event.skip ?? '';
    const isGivenUp = await ledger.step([key], (meta, [stored]) => {
      const now = readEvent(stored);
      if (typeof now === 'string' || now.skip === undefined || now.attempts !== event.attempts) return null;
      if (answer === null) return { writes: bury(meta, { key, event: now }, reason), result: true };
      const { type, bannerId, placementId, time } = answer;
      const { skip: _answered, ...rest } = now;
      const next: StoredEvent = { ...rest, type, bannerId, placementId, time };
      const isChanged =
        type !== now.type ||
        bannerId !== now.bannerId ||
        time !== now.time ||
        placementId !== now.placementId;
      // Unchanged it would be skipped again at once; the server may think otherwise a little later.
      if (!isChanged) next.after = clock.now() + maxWaitMs;
      meta.bytes += bytesOf(next) - bytesOf(now);
      return { writes: [[key, next]], result: false };
    });
    if (isGivenUp !== true) return;
    onGone([key]);
    notify({ type: 'dropped', event: bannerEvent(event), reason: 'rejected', detail: reason });
  };

  return async (kept: Kept[]): Promise<void> => {
    for (const item of kept) await decide(item);
  };
};
