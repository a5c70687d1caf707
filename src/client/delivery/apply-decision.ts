import { isUnavailable } from '../load-chunk.ts';
import type { Decision, StoreDecision } from '../permission.ts';
import type { Capture } from './capture.ts';
import type { Outbox } from './sender/sender.ts';

/** Applies the choices of other tabs to this page. */
export const followTabs = ({ context: { permission, channel, isWorker }, log }: Outbox): void => {
  channel.subscribe((item) => {
    if (item.type !== 'consent' || !Number.isFinite(item.decidedAt)) return;
    const wasWiped = permission.is('wiped');
    // A service worker has no host that could enable it again.
    if (isWorker && wasWiped && item.consent === 'enabled') void permission.decide('enable');
    else void permission.merge(item);
    if (!wasWiped && permission.is('wiped')) log.store.clearMemory();
  });
};

/** Stores the decisions of this page in the log, tells the other tabs, and applies them to the queue. */
export const createApplyDecision = ({ context, log, sender }: Outbox, capture: Capture) => {
  const { permission, channel, trouble } = context;

  const purge = (until: number, store: StoreDecision): Promise<void> =>
    log.retryOnQuota(async () => {
      try {
        const { purge } = await trouble();
        await purge(until);
      } catch (cause) {
        if (!isUnavailable(cause)) throw cause;
        // The decision does not wait for a chunk. These events are not counted as purged.
        await store(log.store);
      }
    });

  return async (decision: Decision, store?: StoreDecision): Promise<void> => {
    const record = permission.record();
    const isOptIn = decision === 'enable';
    const isDiscarding = decision === 'wipe' || decision === 'purge';
    const isWipe = store && decision === 'wipe';
    const post = () =>
      channel.post({
        type: 'consent',
        ...record,
        ...((isWipe || permission.is('wiped')) && { consent: 'wiped' as const }),
      });
    // Other tabs stop without waiting for the disk. An opt-in is posted only after it is stored.
    if (!isOptIn) post();
    // Runs in call order, so that a purge keeps events captured after a later opt-in, in this tab or another.
    const apply = async () => {
      if (isWipe) return log.store.clear(store);
      // A decision applies even if the disk is full.
      const isStored = await log.retryOnQuota(() => log.storeConsent(record));
      await log.store.applyWhenDiskWorks(store);
      if (store && decision === 'purge') {
        // Keeps events captured after a later opt-in in another tab.
        await purge(isStored ? Infinity : record.decidedAt, store);
        // The disk may have failed in the meantime.
        await log.store.applyWhenDiskWorks(store);
      }
      // The user may have opted out again in this page.
      if (isOptIn && isStored && permission.mayAct()) post();
    };
    await capture.runInOrder(apply, isDiscarding);
    if (decision === 'send') await sender.run(true);
    if (isOptIn) sender.resume();
  };
};
