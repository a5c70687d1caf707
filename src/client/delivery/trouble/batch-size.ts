import type { DeliveryContext } from '../delivery.ts';
import { mayHavePoison, type Outcome } from './response.ts';

/** After a request that was too large the next ones are smaller for this long. */
const SMALL_MS = 60 * 60_000;

/** Limits the number of events in a batch: the host's, or fewer after a rejection. */
export const createBatchSize = ({ clock, options: { maxBatch } }: DeliveryContext) => {
  let limit = maxBatch;
  let largeAgainAt = 0;
  /** Sizes of the next batches after a request that one of its events may have spoilt. It is halved until that event is alone. */
  let cuts: number[] = [];
  return {
    limit: (): number => Math.min(clock.monotonic() < largeAgainAt ? limit : maxBatch, cuts[0] ?? maxBatch),
    /** Adapts the size to what became of a batch of `count` events. */
    learn(count: number, outcome: Outcome): void {
      const { type } = outcome;
      const isHalved = mayHavePoison(outcome);
      if (type !== 'refused' && type !== 'confirmed' && !isHalved) return;
      const half = Math.ceil(count / 2);
      cuts = [...(isHalved && count > 1 ? [half, count - half] : []), ...cuts.slice(1)];
      if (type === 'refused' && outcome.isTooLarge) {
        limit = half;
        largeAgainAt = clock.monotonic() + SMALL_MS;
      }
    },
  };
};
