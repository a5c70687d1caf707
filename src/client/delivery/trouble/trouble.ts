import type { DeliveryContext, Trouble } from '../delivery.ts';
import type { Log } from '../log/log.ts';
import { createBatchSize } from './batch-size.ts';
import { createCorrection } from './correction.ts';
import { createDeadLetters } from './dead-letters.ts';
import { readDiagnostics } from './diagnostics.ts';
import { createEviction } from './eviction.ts';
import { createRestore } from './memory-restore.ts';
import { createOutcomeHandler, fingerprint } from './outcome-handler.ts';
import { noResponse, toOutcome } from './response.ts';
import type { SharedFunctions } from './shared-functions.ts';

/**
 * Interval at which the host's key function is called while the server rejects the key. The function is also called when the
 * network or the user is back.
 */
const ASK_KEY_MS = 5 * 60_000;

interface TroubleOptions {
  shared: SharedFunctions;
  context: DeliveryContext;
  log: Log;
  caps: { bytes: number };
}

/** Creates the trouble chunk of the delivery, which most visits do not load. */
export const createTrouble = ({ shared, context, log, caps }: TroubleOptions): Trouble => {
  const { clock, notify } = context;
  const { isPaused, noPause } = shared;
  const size = createBatchSize(context);
  const handleOutcome = createOutcomeHandler(shared, context, log);
  let announcedUntil = 0;

  return {
    restore: createRestore(shared, context.consent),
    ...createEviction(shared, context, log, caps),
    correction: createCorrection(shared, context, log),
    deadLetters: createDeadLetters(shared, context, log),
    diagnostics: () => readDiagnostics(shared, context, log),
    batchLimit: size.limit,
    settle(claimed, result, apiKey) {
      const { length } = claimed.claim.keys;
      const outcome = toOutcome(shared, result, length, clock.now());
      size.learn(length, outcome);
      return handleOutcome(claimed, outcome, apiKey);
    },
    // An expired claim does not indicate a network failure, so delivery does not pause.
    settleAbandoned: (claim) =>
      handleOutcome({ claim, batch: [] }, noResponse(new Error('the page closed before the response')), ''),
    async waitUntil({ until, reason }, apiKey) {
      const isRejected = reason === 'unauthorized';
      if (isRejected && fingerprint(apiKey) !== log.cache.control().rejectedKeyFingerprint) {
        // For all tabs.
        await log.transact([], (control) => {
          control.rejectedKeyFingerprint = null;
          control.pause = noPause();
          return [];
        });
        return undefined;
      }
      // Each pause is reported once.
      if (announcedUntil !== until) notify({ type: 'paused', untilMs: until, reason });
      announcedUntil = until;
      return isRejected ? Math.min(until, clock.now() + ASK_KEY_MS) : until;
    },
    endBackoff: () =>
      log.transact([], (control) => {
        const { pause } = control;
        if (pause.isServerMandated || !isPaused(pause, clock.now())) return null;
        control.pause = { ...pause, until: clock.now() };
        return [];
      }),
  };
};
