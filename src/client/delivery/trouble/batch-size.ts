import type { DeliveryContext } from '../delivery.ts';
import { mayContainPoisonEvent, type Outcome } from './response.ts';

/** Time for which batches are smaller after a request that was too large. */
const SMALL_MS = 60 * 60_000;

/** Limits the number of events in a batch to the host's limit, or to less after a rejection. */
export const createBatchSize = ({ clock, options: { maxBatchSize } }: DeliveryContext) => {
  let limit = maxBatchSize;
  let largeAgainAt = 0;
  /**
   * Sizes of the next batches after a request that may contain a poison event. The batch is bisected until that event is alone.
   */
  let cuts: number[] = [];
  return {
    limit: (): number =>
      Math.min(clock.monotonic() < largeAgainAt ? limit : maxBatchSize, cuts[0] ?? maxBatchSize),
    /** Adapts the size to the outcome of a batch of `count` events. */
    learn(count: number, outcome: Outcome): void {
      const { type } = outcome;
      const isHalved = mayContainPoisonEvent(outcome);
      if (type !== 'rejected' && type !== 'confirmed' && !isHalved) return;
      const half = Math.ceil(count / 2);
      cuts = [...(isHalved && count > 1 ? [half, count - half] : []), ...cuts.slice(1)];
      if (type === 'rejected' && outcome.isTooLarge) {
        limit = half;
        largeAgainAt = clock.monotonic() + SMALL_MS;
      }
    },
  };
};
