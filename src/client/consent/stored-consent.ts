import type { DeliveryContext } from '../delivery/delivery.ts';
import type { Log } from '../delivery/log/log.ts';
import type { RetryOnQuota } from '../delivery/log/upkeep.ts';

/** Brings the choice of this page to the log and to the other tabs, and theirs to this page. A full disk refuses no choice. */
export const createStoredConsent = (context: DeliveryContext, log: Log, retryOnQuota: RetryOnQuota) => {
  const { consent, news, isWorker } = context;
  const post = (): void => news.post({ type: 'consent', choice: consent.choice() });

  news.subscribe((item) => {
    if (item.type !== 'consent' && item.type !== 'wiped') return;
    const choice = item.type === 'wiped' ? 'wiped' : item.choice;
    if (!choice) return;
    // Nothing is written until `enable()` or a reload; in a service worker an opt-in in any tab counts.
    if (consent.is('wiped') && !(isWorker && choice === 'enabled')) return;
    void consent.set(choice);
    if (choice === 'wiped') log.forgetMemory();
  });

  return {
    async store(): Promise<void> {
      // The other tabs need not wait for the disk to stop; but what they find there must not be older than an opt-in.
      if (!consent.mayAct()) post();
      await retryOnQuota(log.storeChoice);
      // What was held in memory comes to the disk with the choice.
      await log.retry();
      if (consent.mayAct()) post();
    },
    async wipe(): Promise<void> {
      news.post({ type: 'wiped' });
      await log.clear();
    },
  };
};
