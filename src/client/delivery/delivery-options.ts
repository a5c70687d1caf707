import { MAX_TRACK_BATCH } from '../../protocol/index.ts';
import type { DeliveryOptions } from '../options.ts';

const DAY_MS = 24 * 60 * 60_000;

const DEFAULTS: DeliveryOptions = {
  maxBatch: MAX_TRACK_BATCH,
  maxWaitMs: 5_000,
  maxAttempts: 3,
  maxEvents: 10_000,
  maxBytes: 2_000_000,
  maxAgeMs: 7 * DAY_MS,
  inDoubt: { impression: 'at-least-once', click: 'at-least-once', dismiss: 'at-least-once' },
  timeoutMs: 30_000,
};

/** `undefined` is no choice: hosts pass on what they may not have. */
const chosenOf = <T extends object>(options: T | undefined): Partial<T> =>
  Object.fromEntries(Object.entries(options ?? {}).filter(([, value]) => value !== undefined)) as Partial<T>;

/** The host's choices over the defaults. */
export const deliveryOptions = (chosen?: Partial<DeliveryOptions>): DeliveryOptions => ({
  ...DEFAULTS,
  ...chosenOf(chosen),
  inDoubt: { ...DEFAULTS.inDoubt, ...chosenOf(chosen?.inDoubt) },
});
