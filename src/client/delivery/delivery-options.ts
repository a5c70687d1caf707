import { type EventType, MAX_TRACK_BATCH } from '../../protocol/index.ts';
import { chosenOptions } from '../chosen-options.ts';
import type { Notify } from '../notice.ts';

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
  /** Longest wait for an answer, in milliseconds. Default 30,000. */
  timeoutMs: number;
}

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

const IN_DOUBT: DeliveryOptions['inDoubt'] = {
  impression: 'at-least-once',
  click: 'at-least-once',
  dismiss: 'at-least-once',
};
const POLICY = ['at-least-once', 'at-most-once'];
const POLICIES = { impression: POLICY, click: POLICY, dismiss: POLICY };

/** The host's choices over the defaults. */
export const deliveryOptions = (
  chosen: Partial<DeliveryOptions> | undefined,
  notify: Notify,
): DeliveryOptions => {
  const { inDoubt, ...numbers } = chosen ?? {};
  return {
    ...chosenOptions('delivery.', NUMBERS, numbers, notify, { maxWaitMs: 0 }),
    inDoubt: chosenOptions('delivery.inDoubt.', IN_DOUBT, inDoubt, notify, POLICIES),
  };
};
