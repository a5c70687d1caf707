import type { BannerEvent } from '../../banner.ts';
import type { DeliveryContext } from '../delivery.ts';
import { MAX_DELAY_MS, MAX_RESPONSE_MS, MAX_TIME_MS } from '../limits.ts';
import type { Log } from '../log/log.ts';
import type { LogEvent, QueuedEvent } from '../log/records.ts';
import { toDeadLetter } from './dead-letters.ts';
import type { SharedFunctions } from './shared-functions.ts';

/** Timeout of the host's correction, per event. */
const DECISION_MS = 10_000;
/** Added to the host's total time, so that the last decision can be stored. */
const MARGIN_MS = 5_000;
/** Maximum number of events that a page passes to its host at once. Other tabs leave these events to the page. */
const MAX_CORRECTIONS = 50;

/** Returns when to resend a rejected event that was not corrected, in Unix milliseconds. The server may accept it later. */
export const getRetryTime = ({ clock, options }: Pick<DeliveryContext, 'clock' | 'options'>): number =>
  clock.now() + Math.min(options.maxDelayMs, MAX_DELAY_MS);

/**
 * Lets the host correct rejected events, one by one in order, and stores its decisions. Claims skip
 * rejected events, so that no other event waits for the host.
 */
export const createCorrection = (
  { bannerEvent, isPendingDeadline, hasRequiredFields, readEvent, withTimeout }: SharedFunctions,
  context: DeliveryContext,
  log: Log,
) => {
  const { clock, options, notify, fail, permission } = context;
  const isEvent = (event: BannerEvent): boolean =>
    hasRequiredFields(event) &&
    Object.hasOwn(options.guarantee, event.type) &&
    event.bannerId !== '' &&
    Number.isSafeInteger(event.time) &&
    Math.abs(event.time) <= MAX_TIME_MS;
  let correcting = Promise.resolve();
  const { onEventRejected = (event: BannerEvent) => event } = context;

  /** Returns the event that the host decides on: a changed event, the same one, or `null` to drop it. */
  const getCorrection = async (event: LogEvent): Promise<BannerEvent | null> => {
    const current = bannerEvent(event);
    const rejection = { reason: event.rejection ?? '', attempts: event.attempts };
    try {
      const work = onEventRejected({ ...current }, rejection);
      const corrected = await withTimeout(work, clock.after, DECISION_MS, 'onEventRejected()');
      if (corrected === null) return null;
      if (corrected === undefined || !isEvent(corrected)) {
        fail('correction', 'onEventRejected() returned no event: resent unchanged');
        return current;
      }
      if (corrected.userId !== current.userId) {
        fail('correction', 'onEventRejected() cannot change userId');
      }
      return { ...bannerEvent(corrected), userId: current.userId };
    } catch (cause) {
      fail('correction', 'onEventRejected() failed: resent unchanged', cause);
      return current;
    }
  };

  const correct = async ({ key, event }: QueuedEvent): Promise<void> => {
    const corrected = await getCorrection(event);
    const reason = event.rejection ?? '';
    let isDropped = false;
    await log.transact([key], (_, [stored]) => {
      const now = readEvent(stored);
      // No other tab decides at the same time. After a lost database connection the first run may have stored the decision.
      if (now?.rejection === undefined || now.attempts !== event.attempts) return null;
      if (corrected === null) {
        isDropped = true;
        return toDeadLetter({ key, event: now }, reason);
      }
      const { rejection: _rejection, correctionLeaseUntil: _lease, buttonId: _button, ...rest } = now;
      const next: LogEvent = { ...rest, ...corrected };
      // The server would reject an unchanged event again at once.
      if (JSON.stringify(corrected) === JSON.stringify(bannerEvent(now)))
        next.notBefore = getRetryTime(context);
      return [[key, next]];
    });
    if (!isDropped) return;
    notify({ type: 'dropped', event: bannerEvent(event), reason: 'rejected', detail: reason });
  };

  const correctAll = async (items: QueuedEvent[]): Promise<void> => {
    try {
      for (const item of items) {
        // After a stop or a wipe there is nothing to decide.
        if (!permission.canSend()) return;
        await correct(item);
      }
    } catch (cause) {
      fail('storage', 'A correction could not be stored', cause);
    }
  };

  return {
    async request(rejected: QueuedEvent[]): Promise<{ settled: Promise<void> }> {
      const some = rejected.slice(0, MAX_CORRECTIONS);
      // Deadlines identify this call, because the first run may have stored them before a lost database connection.
      const until = some.map((_, i) => clock.now() + (i + 1) * DECISION_MS + MARGIN_MS);
      let leased: QueuedEvent[] = [];
      await log.transact(
        some.map(({ key }) => key),
        (_, records) => {
          leased = some.flatMap(({ key }, i): QueuedEvent[] => {
            const event = readEvent(records[i]);
            if (event?.rejection === undefined) return [];
            const isOurs = event.correctionLeaseUntil === until[i];
            const isUnleased =
              isOurs || !isPendingDeadline(event.correctionLeaseUntil ?? 0, clock.now(), MAX_RESPONSE_MS);
            return isUnleased ? [{ key, event: { ...event, correctionLeaseUntil: until[i]! } }] : [];
          });
          return leased.length > 0 ? leased.map(({ key, event }) => [key, event]) : null;
        },
      );
      const settled = correctAll(leased);
      correcting = Promise.all([correcting, settled]).then(() => undefined);
      return { settled };
    },
    settled: (): Promise<void> => correcting,
  };
};
