import { EVENT_TYPES, type EventType, MAX_TRACK_BATCH } from '../../protocol/index.ts';
import type { Notify } from '../notices.ts';
import { chosenOptions, UNBOUNDED } from './chosen-options.ts';

/** What happens to an event whose answer was never read. */
export type InDoubtPolicy = 'at-least-once' | 'at-most-once';

/** How events are stored and sent. */
export interface DeliveryOptions {
  /** Events in one batch. Default 50. */
  maxBatch: number;
  /** Longest an event waits for company, in milliseconds. Default 5,000. */
  maxWaitMs: number;
  /** How often an event is sent before a skip makes it a dead letter. Default 3. */
  maxAttempts: number;
  /** Caps of what is stored: events, bytes, age in milliseconds. Default 10,000, 2 MB, 7 days. */
  maxEvents: number;
  maxBytes: number;
  maxAgeMs: number;
  /** Per event type. Default `at-least-once` for all. */
  inDoubt: Record<EventType, InDoubtPolicy>;
  /** Longest wait for an answer, in milliseconds, at most 5 minutes. Default 30,000. */
  timeoutMs: number;
}

/** What a host may choose of them. */
export type DeliveryChoices = Partial<Omit<DeliveryOptions, 'inDoubt'>> & {
  inDoubt?: Partial<DeliveryOptions['inDoubt']>;
};

/** A limit that every tab knows: a request that takes longer is one whose page is gone. */
const MAX_TIMEOUT_MS = 5 * 60_000;
const DAY_MS = 24 * 60 * 60_000;

const NUMBERS = {
  maxBatch: MAX_TRACK_BATCH,
  maxWaitMs: 5_000,
  maxAttempts: 3,
  maxEvents: 10_000,
  maxBytes: 2_000_000,
  maxAgeMs: 7 * DAY_MS,
  timeoutMs: 30_000,
};

/** The same for each event type there is. */
const forEachType = <T>(value: T): Record<EventType, T> =>
  Object.fromEntries(EVENT_TYPES.map((type) => [type, value])) as Record<EventType, T>;

/** The host's choices over the defaults. */
export const deliveryOptions = (chosen: DeliveryChoices | undefined, notify: Notify): DeliveryOptions => {
  const { inDoubt, ...numbers } = chosen ?? {};
  return {
    ...chosenOptions('delivery.', NUMBERS, numbers, notify, {
      maxWaitMs: [0, UNBOUNDED],
      timeoutMs: [1, MAX_TIMEOUT_MS],
    }),
    inDoubt: chosenOptions(
      'delivery.inDoubt.',
      forEachType<InDoubtPolicy>('at-least-once'),
      inDoubt,
      notify,
      forEachType(['at-least-once', 'at-most-once']),
    ),
  };
};
