import type { DeliveryContext } from '../delivery/delivery.ts';
import type { Log } from '../delivery/log/log.ts';
import type { RetryOnQuota } from '../delivery/log/upkeep.ts';
import type { Choice, OptOutPolicy } from './consent.ts';

/** Brings the user's choice to the disk and to the other tabs, and theirs to this one. A full disk refuses no choice. */
export const createStoredConsent = (context: DeliveryContext, log: Log, retryOnQuota: RetryOnQuota) => {
  const { consent, clock, news, notify, isWorker } = context;
  const notifyHost = (): void =>
    notify({ type: 'consent', state: consent.mayAct() ? 'enabled' : 'disabled' });

  const write = async (choice: Choice): Promise<void> => {
    await consent.store(choice, () =>
      retryOnQuota(() =>
        log.step([], (control) => {
          control.consent = choice;
          control.chosenAt = clock.now();
          return [];
        }),
      ),
    );
    // What was held in memory comes to the disk with the choice.
    await log.retry();
  };

  news.subscribe((item) => {
    if (item.type !== 'consent' && item.type !== 'wiped') return;
    const choice = item.type === 'wiped' ? 'wiped' : item.choice;
    if (!choice) return;
    // Nothing is written until `enable()` or a reload; in a service worker an opt-in in any tab counts.
    if (consent.state === 'wiped' && !(isWorker && choice === 'enabled')) return;
    consent.set(choice);
    if (choice === 'wiped') log.forgetMemory();
    notifyHost();
  });
  // News of this choice may have missed the tab.
  log.onChoice((choice) => {
    if (consent.wasRead(choice)) notifyHost();
  });

  return {
    async enable(): Promise<void> {
      consent.set('enabled');
      await write('enabled');
      news.post({ type: 'consent', choice: 'enabled' });
      notifyHost();
    },

    /** Takes effect before the first await: from here on this tab stores nothing, and sends only for `send`. */
    async disable(policy: OptOutPolicy): Promise<void> {
      const choice = consent.optOut(policy);
      news.post({ type: 'consent', choice });
      await write(choice);
      notifyHost();
    },

    async wipe(): Promise<void> {
      consent.set('wiped');
      news.post({ type: 'wiped' });
      await log.clear();
      notifyHost();
    },
  };
};
