import { isAhead, MAX_WAIT_MS } from '../../platform/waits.ts';
import type { DeliveryContext } from '../context.ts';
import type { Log } from '../log/log.ts';
import { isQuota } from '../log/log-store.ts';
import {
  type Claim,
  type Control,
  claimKey,
  isAlone,
  keyText,
  type QueuedEvent,
  readEvent,
  VERSION,
  type Writes,
} from '../log/records.ts';
import { isSameGroup, trackBody } from './batch.ts';

/** Added to the request's timeout: after both, no answer can come any more. */
const ANSWER_MARGIN_MS = 5_000;
/** An answer that takes longer may be to a page that is gone: another one sends what is not in that request. */
const ALONE_MS = 10_000;

/** A request under way. */
export interface Sending {
  claim: Claim;
  events: QueuedEvent[];
  body: string;
}

export const newSending = (
  { clock, options, tab, newId }: DeliveryContext,
  events: QueuedEvent[],
): Sending => ({
  claim: {
    v: VERSION,
    id: newId(),
    tab,
    until: clock.now() + options.timeoutMs + ANSWER_MARGIN_MS,
    aloneUntil: clock.now() + ALONE_MS,
    keys: events.map(({ key }) => key),
  },
  events,
  body: trackBody(events.map(({ event }) => event)),
});

/** What came of the attempt to take a claim. */
export type Taken =
  | { type: 'sending'; sending: Sending }
  /** Another page was faster, or nothing of the batch is left: look again. */
  | { type: 'gone' };

/**
 * Takes the claim for what is left of this batch. A disk that is too full to hold a claim still lets its events go, as a last
 * flush does; but not those that may be sent only once.
 */
export const createTake =
  (context: DeliveryContext, log: Log) =>
  async (batch: QueuedEvent[]): Promise<Taken> => {
    const { clock, options, canSend } = context;
    let sending: Sending | undefined;
    const decide = (control: Control, records: unknown[]): Writes | null => {
      // After a lost connection this runs twice: where the first run committed, change nothing.
      if (sending && control.claim?.id === sending.claim.id) return null;
      sending = undefined;
      const { claim, wait } = control;
      const now = clock.now();
      if (!canSend() || (claim && isAlone(claim, now)) || isAhead(wait.until, now, MAX_WAIT_MS)) return null;
      const kept = batch.flatMap(({ key, event: before }, i): QueuedEvent[] => {
        const event = readEvent(records[i]);
        const isFit = event && isSameGroup(options, event, before) && event.skip === undefined;
        return isFit && event.attempts === before.attempts ? [{ key, event }] : [];
      });
      const isClaimed =
        claim !== null && kept.some(({ key }) => claim.keys.some((each) => keyText(each) === keyText(key)));
      if (kept.length === 0 || isClaimed) return null;
      sending = newSending(context, kept);
      control.claim = sending.claim;
      return claim ? [[claimKey(claim.id), claim]] : [];
    };
    try {
      await log.step(
        batch.map(({ key }) => key),
        decide,
      );
    } catch (error) {
      const mayRepeat = batch.every(({ event }) => options.inDoubt[event.type] === 'at-least-once');
      if (!isQuota(error) || !mayRepeat || !canSend()) throw error;
      sending = newSending(context, batch);
    }
    return sending ? { type: 'sending', sending } : { type: 'gone' };
  };
