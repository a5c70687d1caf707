import { isUnavailable } from '../load-chunk.ts';
import type { Decision } from '../permission.ts';
import type { StoreKey } from '../platform/store.ts';
import type { Capture } from './capture.ts';
import { isLogStateKey, isNewer } from './log/records.ts';
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

  const purge = async (until: number): Promise<void> => {
    try {
      const { purge } = await trouble();
      await log.retryOnQuota(() => purge(until));
    } catch (cause) {
      if (!isUnavailable(cause)) throw cause;
      // The decision does not wait for a chunk. These events are not counted as purged.
      log.store.schedulePurge();
      const found = await log.store.entries();
      // The capture time is in the key of an event, and in the mark of a deduplication name.
      const isKept = ([key, record]: [StoreKey, unknown]): boolean =>
        isLogStateKey(key) || isNewer(record) || (Object(record).at ?? Number([key].flat()[2])) > until;
      await log.store.deleteMany(found.filter((each) => !isKept(each)).map(([key]) => key));
    }
  };

  return async (decision: Decision, isDiskDone = false): Promise<void> => {
    const record = permission.record();
    const isOptIn = decision === 'enable';
    const isDiscarding = decision === 'wipe' || decision === 'purge';
    const isWipe = decision === 'wipe' && !isDiskDone;
    const isPurge = decision === 'purge' && !isDiskDone;
    const post = () =>
      channel.post({ type: 'consent', ...record, ...(isWipe && { consent: 'wiped' as const }) });
    // Other tabs stop without waiting for the disk. An opt-in is posted only after it is stored.
    if (!isOptIn) post();
    // Runs in call order, so that a purge keeps events captured after a later opt-in, in this tab or another.
    const carryOut = async () => {
      if (isWipe) return log.store.clear();
      // A decision applies even if the disk is full.
      const isStored = await log.retryOnQuota(() => log.storeConsent(record));
      // Events in memory are moved to the disk together with the decision.
      await log.store.retry();
      // Keeps events captured after a later opt-in in another tab.
      const purgedUntil = isStored ? Infinity : record.decidedAt;
      if (isPurge) await purge(purgedUntil);
      // The user may have opted out again in this page.
      if (isOptIn && isStored && permission.mayAct()) post();
    };
    await capture.runInOrder(carryOut, isDiscarding);
    if (decision === 'send') await sender.run(true);
    if (isOptIn) sender.resume();
  };
};
