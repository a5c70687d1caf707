import type { DeliveryContext } from '../delivery.ts';
import type { Log } from '../log/log.ts';
import { claimKey, eventValue } from '../log/records.ts';
import { byTime, findBlock, newClaim, planBatches } from './claim.ts';
import type { Sender } from './sender.ts';

/** Creates the exit flush, which sends the events that are not in flight when the page exits. */
export const createExitFlush = (
  context: DeliveryContext,
  log: Log,
  { apiKeys, limit, requests, settle }: Sender,
) => {
  const { send, budgetLeft } = requests;
  const { tab, options, userTokens } = context;

  /**
   * Sends at once, from memory, as keepalive fetches with the most valuable events first. (A beacon has no Authorization header,
   * and its response cannot be read.) Claims are written without waiting, so that a later page knows which events are in doubt.
   * Events over the budget stay stored. Events that may be sent only once also stay, because another tab or page may send them
   * until their claim is written. Resolves with the number of delivered events.
   */
  return async (): Promise<number> => {
    const key = apiKeys.current();
    const others = log.cachedClaims().filter((each) => each.tab !== tab);
    if (key === undefined || findBlock(context, log.cachedControl(), others)) return 0;
    const byValue = log.unsent
      .list()
      .filter(({ event: { userId, type } }) => {
        const mayRepeat = options.guarantee[type] !== 'at-most-once';
        return mayRepeat && userTokens.isReady(userId) && !userTokens.isPaused(userId);
      })
      .sort((a, b) => eventValue(b.event.type) - eventValue(a.event.type) || byTime(a, b));
    const plan = planBatches(byValue, budgetLeft(), limit(), context);
    if (plan.length === 0) return 0;
    const claimed = plan.map((batch) => newClaim(context, batch, 0));
    // If a claim cannot be written, only its in-doubt mark is lost. The events are stored, and the next page sends them again.
    const written = log.write(claimed.map(({ claim }) => [claimKey(claim.id), claim])).catch(() => undefined);
    // Starts all requests in this task, because the page may not get another task.
    const sent = Promise.all(claimed.map(async (one) => settle(one, await send(one.batch, key, true), key)));
    const [delivered] = await Promise.all([sent, written]);
    return delivered.reduce((sum, count) => sum + count, 0);
  };
};
