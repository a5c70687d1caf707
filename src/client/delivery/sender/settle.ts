import type { BannerEvent } from '../../banner.ts';
import { isPaused, noPause } from '../../platform/pauses.ts';
import type { DeliveryContext } from '../delivery.ts';
import type { Log } from '../log/log.ts';
import { isQuotaError } from '../log/log-store.ts';
import {
  bannerEvent,
  type Claim,
  type Claimed,
  type Control,
  claimKey,
  readEvent,
  type Writes,
} from '../log/records.ts';
import type { RequestResult } from './request-result.ts';

/** Creates the function that tells the host which events were delivered. */
export const createDeliver =
  ({ host, notify }: DeliveryContext) =>
  (events: BannerEvent[]): void => {
    if (events.length === 0) return;
    const dismissals = events.filter(({ type }) => type === 'dismiss');
    if (dismissals.length > 0) host.onDismissed?.(dismissals);
    notify({ type: 'delivered', events });
  };

export type Deliver = ReturnType<typeof createDeliver>;

/**
 * Records the result of a request in the log and tells the host. Handles a response that accepts all events, and leaves any other
 * to the trouble chunk. If the trouble chunk cannot be loaded, the claim stays until it expires. `apiKey` is the key that was
 * sent. Returns the number of delivered events.
 */
export const createSettle = (context: DeliveryContext, log: Log, deliver: Deliver) => {
  const { clock, tabs, trouble, loaded } = context;

  const release = ({ claim }: Claimed): Promise<void> =>
    log.transact([], (_control, _values, claims) =>
      claims.some(({ id }) => id === claim.id) ? [[claimKey(claim.id), undefined]] : null,
    );

  /** Marks the events of a claim as delivered and returns them; `undefined` if the storage quota is exceeded. */
  const confirm = async ({ claim }: Claimed): Promise<BannerEvent[] | undefined> => {
    let delivered: BannerEvent[] = [];
    let isDone = false;
    const change = (control: Control, records: unknown[], claims: Claim[]): Writes | null => {
      const isClaimed = claims.some(({ id }) => id === claim.id);
      // After a lost connection this runs twice. If the first run committed, change nothing.
      if (isDone && !isClaimed) return null;
      isDone = isClaimed;
      // Another tab may have purged some events in the meantime.
      const events = records.map(readEvent);
      delivered = events.flatMap((event) => (event ? [bannerEvent(event)] : []));
      if (!isClaimed && delivered.length === 0) return null;
      // No tab sends before the time that the server requested, regardless of the results of other requests in flight.
      if (!control.pause.isServerMandated || !isPaused(control.pause, clock.now())) control.pause = noPause();
      control.rejectedKeyFingerprint = null;
      control.delivered += delivered.length;
      const writes = claim.keys.flatMap((key, i): Writes => (events[i] ? [[key, undefined]] : []));
      return [[claimKey(claim.id), undefined], ...writes];
    };
    try {
      await log.transact(claim.keys, change);
      return delivered;
    } catch (error) {
      if (isQuotaError(error)) return undefined;
      throw error;
    }
  };

  const settleAny = async (claimed: Claimed, result: RequestResult, apiKey: string): Promise<number> => {
    const { settle } = await trouble().catch(async (cause) => {
      // A request that never left the browser is not in doubt.
      if (result.type === 'no-response' && result.wasOffline) await release(claimed);
      throw cause;
    });
    return settle(claimed, result, apiKey);
  };

  return async (claimed: Claimed, result: RequestResult | undefined, apiKey: string): Promise<number> => {
    let count = 0;
    if (result === undefined) await release(claimed);
    else {
      // Once loaded, the trouble chunk settles every request, because the next batch size depends on the result.
      const isGood = result.type === 'response' && result.isAllAccepted && !claimed.isUnstored && !loaded();
      const delivered = isGood ? await confirm(claimed) : undefined;
      count = delivered ? delivered.length : await settleAny(claimed, result, apiKey);
      if (delivered) deliver(delivered);
    }
    tabs.post({ type: 'sender-idle', pause: log.cachedControl().pause });
    return count;
  };
};

export type Settle = ReturnType<typeof createSettle>;
