import type { DeliveryContext, Trouble } from '../delivery.ts';
import type { Log } from '../log/log.ts';
import { createCorrection } from './correction.ts';
import { createDeadLetters } from './dead-letters.ts';
import { readDiagnostics } from './diagnostics.ts';
import { createEviction } from './eviction.ts';
import { createRestore } from './memory-restore.ts';
import { createOutcomeHandler, fingerprint } from './outcome-handler.ts';
import { mayContainPoisonEvent, noResponse, type Outcome, toOutcome } from './response.ts';
import type { SharedFunctions } from './shared-functions.ts';

/** Time for which batches are smaller after a request that was too large. */
const SMALLER_BATCH_MS = 60 * 60_000;

/** Limits the number of events in a batch to the host's limit, or to less after a rejection. */
const createBatchSize = ({ clock, options: { maxBatchSize } }: DeliveryContext) => {
  let limit = maxBatchSize;
  let largeAgainAt = 0;
  /**
   * Sizes of the next batches after a request that may contain a poison event. The batch is bisected until that event is alone.
   */
  let bisectedSizes: number[] = [];
  return {
    limit: (): number =>
      Math.min(clock.monotonic() < largeAgainAt ? limit : maxBatchSize, bisectedSizes[0] ?? maxBatchSize),
    /** Adapts the size to the outcome of a batch of `count` events. */
    adapt(count: number, outcome: Outcome): void {
      const { type } = outcome;
      const isHalved = mayContainPoisonEvent(outcome);
      if (type !== 'rejected' && type !== 'confirmed' && !isHalved) return;
      const half = Math.ceil(count / 2);
      bisectedSizes = [...(isHalved && count > 1 ? [half, count - half] : []), ...bisectedSizes.slice(1)];
      if (type === 'rejected' && outcome.isTooLarge) {
        limit = half;
        largeAgainAt = clock.monotonic() + SMALLER_BATCH_MS;
      }
    },
  };
};

/**
 * Interval at which the host's key function is called while the server rejects the key. The function is also called when the
 * network or the user is back.
 */
const KEY_RETRY_MS = 5 * 60_000;

interface TroubleOptions {
  shared: SharedFunctions;
  context: DeliveryContext;
  log: Log;
}

/** Creates the trouble chunk of the delivery, which most visits do not load. */
export const createTrouble = ({ shared, context, log }: TroubleOptions): Trouble => {
  const { clock, notify } = context;
  const { isPaused, noPause } = shared;
  const size = createBatchSize(context);
  const handleOutcome = createOutcomeHandler(shared, context, log);
  let announcedUntil = 0;

  return {
    restore: createRestore(shared, context.permission),
    ...createEviction(shared, context, log),
    correction: createCorrection(shared, context, log),
    deadLetters: createDeadLetters(shared, context, log),
    diagnostics: () => readDiagnostics(shared, context, log),
    batchLimit: size.limit,
    settle(claimed, result, apiKey) {
      const { length } = claimed.claim.keys;
      const outcome = toOutcome(shared, result, length, clock.now());
      size.adapt(length, outcome);
      return handleOutcome(claimed, outcome, apiKey);
    },
    // An expired claim does not indicate a network failure, so delivery does not pause.
    settleAbandoned: (claim) =>
      handleOutcome({ claim, batch: [] }, noResponse(new Error('the page closed before the response')), ''),
    async waitUntil({ until, reason }, apiKey) {
      const isRejected = reason === 'unauthorized';
      if (isRejected && fingerprint(apiKey) !== log.cache.state().rejectedKeyFingerprint) {
        // For all tabs.
        await log.transact([], (state) => {
          state.rejectedKeyFingerprint = null;
          state.pause = noPause();
          return [];
        });
        return undefined;
      }
      // Each pause is reported once.
      if (announcedUntil !== until) notify({ type: 'paused', untilMs: until, reason });
      announcedUntil = until;
      return isRejected ? Math.min(until, clock.now() + KEY_RETRY_MS) : until;
    },
    endBackoff: () =>
      log.transact([], (state) => {
        const { pause } = state;
        if (pause.isServerMandated || !isPaused(pause, clock.now())) return null;
        state.pause = { ...pause, until: clock.now() };
        return [];
      }),
  };
};
