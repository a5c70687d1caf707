import { onReturn } from '../../platform/page-lifecycle.ts';
import { isPausing } from '../../platform/waits.ts';
import type { DeliveryContext } from '../delivery.ts';
import type { Log } from '../log/log.ts';
import type { Upkeep } from '../log/upkeep.ts';
import type { Sender } from './sender.ts';

/** How long a page whose CORS preflight is cold waits for a pause before it sends the first events early. */
const COLD_QUIET_MS = 250;

/**
 * Decides when the sender looks at the log. Events wait `maxWaitMs` for company, with one exception: while no request went out
 * lately the first ones leave at the first pause, so that the last flush of the page finds the preflight answered.
 */
export const createScheduler = (context: DeliveryContext, log: Log, upkeep: Upkeep, sender: Sender) => {
  const { clock, lifecycle, options, canSend, isStopped } = context;
  const { maxWaitMs } = options;
  let cancelQuiet: () => void = () => undefined;

  /** The network or the user is back, or the user has opted in. */
  const onSign = (): void => {
    if (!canSend()) return;
    void log.retry();
    void sender.tryAgain();
  };
  const stopListening = onReturn(lifecycle, onSign);

  return {
    onSign,
    /** Events were stored; `waiting` of this page's are in no request yet. */
    onAppended(waiting: number): void {
      const { wait } = log.lastControl();
      const isWaiting = isPausing(wait, clock.now());
      if (upkeep.isDue() || (waiting >= sender.limit() && !isWaiting)) sender.wake();
      sender.wakeAt(isWaiting ? wait.until : clock.now() + maxWaitMs);
      if (isStopped() || isWaiting || sender.isWarm()) return;
      cancelQuiet();
      cancelQuiet = clock.after(Math.min(COLD_QUIET_MS, maxWaitMs), () => {
        if (!sender.isWarm()) sender.wake(true);
      });
    },
    stop(): void {
      cancelQuiet();
      stopListening();
    },
  };
};
