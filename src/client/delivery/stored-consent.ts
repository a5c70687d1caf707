import type { Choice, Consent, OptOutPolicy } from '../consent.ts';
import type { RetryOnQuota } from '../platform/retry-on-quota.ts';
import type { Log } from './log/index.ts';
import type { DeliveryPage } from './page.ts';

export interface StoredConsentOptions {
  consent: Consent;
  log: Log;
  page: DeliveryPage;
  /** A full disk refuses no choice. */
  retryOnQuota: RetryOnQuota;
  /** Ends the requests under way. */
  abort: () => void;
  /** The user wiped the log in another tab. */
  onWiped: () => void;
}

/** Brings the user's choice to the disk and to the other tabs, and theirs to this one. */
export const createStoredConsent = (options: StoredConsentOptions) => {
  const { consent, log, page, retryOnQuota, abort, onWiped } = options;
  const { clock, news, notify, isWorker } = page;
  /** As the disk had it last. */
  let seen: Choice = 'enabled';

  const set = (choice: Choice | 'wiped'): void => {
    consent.set(choice);
    if (!consent.maySend()) abort();
  };
  const tell = (): void => notify({ type: 'consent', state: consent.mayStore() ? 'enabled' : 'disabled' });

  const write = (choice: Choice): Promise<void> =>
    retryOnQuota(() =>
      log.step([], (control) => {
        control.consent = choice;
        control.chosenAt = clock.now();
        return [];
      }),
    );

  news.subscribe((item) => {
    if (item.type !== 'consent' && item.type !== 'wiped') return;
    const choice = item.type === 'wiped' ? 'wiped' : item.choice;
    // Nothing is written until `enable()` or a reload; in a service worker an opt-in in any tab counts.
    if (consent.isWiped() && !(isWorker && choice === 'enabled')) return;
    set(choice);
    if (choice === 'wiped') onWiped();
    tell();
  });

  return {
    async enable(): Promise<void> {
      set('enabled');
      await write('enabled');
      news.post({ type: 'consent', choice: 'enabled' });
      tell();
    },

    /** Takes effect before the first await: from here on this tab stores nothing, and sends only for `send`. */
    async disable(policy: OptOutPolicy): Promise<void> {
      consent.optOut(policy);
      const choice = consent.choice();
      set(choice);
      news.post({ type: 'consent', choice });
      await write(choice);
      tell();
    },

    async wipe(): Promise<void> {
      set('wiped');
      news.post({ type: 'wiped' });
      await log.clear();
      tell();
    },

    /** The choice in a control record that was read: news of it may have missed this tab. */
    onStored(choice: Choice): void {
      if (choice === seen) return;
      seen = choice;
      if (choice === consent.choice() || consent.isWiped()) return;
      set(choice);
      tell();
    },
  };
};

export type StoredConsent = ReturnType<typeof createStoredConsent>;
