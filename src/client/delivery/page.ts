import type { Choice } from '../consent.ts';
import type { Notice, Notify } from '../notice.ts';
import { fingerprint } from '../platform/keyring.ts';
import { createTabChannel, type TabChannel } from '../platform/tab-channel.ts';
import type { DeliveryPlatform, DeliverySetup } from './delivery.ts';
import { type DeliveryOptions, deliveryOptions } from './delivery-options.ts';

/** What the tabs tell each other; a tab that misses it finds the same in the log. */
export type TabNews =
  /** A request has been answered: another tab that waits may send. */
  | { type: 'idle' }
  /** These left the queue, by their `keyText`. */
  | { type: 'gone'; keys: string[] }
  /** The service worker has no host to tell what became of an event: each page tells its own. */
  | { type: 'notice'; notice: Notice }
  | { type: 'consent'; choice: Choice }
  | { type: 'wiped' };

/** What the parts of the delivery share: the page, or the service worker, that they run in. */
export interface DeliveryPage extends Pick<DeliveryPlatform, 'clock' | 'random' | 'lifecycle'> {
  /** Names the log. */
  name: string;
  /** Names this page. */
  tab: string;
  isWorker: boolean;
  newId: () => string;
  options: DeliveryOptions;
  notify: Notify;
  /** Tells the host that the log failed. */
  fail: (message: string, cause?: unknown) => void;
  news: TabChannel<TabNews>;
}

/**
 * The database, and the channel between the tabs, of one app at one API: two apps on one origin (a shop and its
 * staging, a portal's widgets) never see, send or wipe each other's events.
 */
export const logName = (endpoint: string, appId: string): string =>
  `placard-outbox-${fingerprint(`${endpoint}\n${appId}`)}`;

export const createDeliveryPage = (setup: DeliverySetup): DeliveryPage => {
  const { api, platform, host, isWorker = false } = setup;
  const { clock, random, lifecycle, openChannel } = platform;
  const name = logName(api.endpoint, api.appId);
  const newId = () => `${clock.now().toString(36)}-${Math.floor(random() * 2 ** 52).toString(36)}`;
  const news = createTabChannel<TabNews>(name, lifecycle, openChannel);

  const tell: Notify = (notice) => {
    try {
      host.notify(notice);
    } catch {
      // A listener has its own way to report; here its bug may not cost an event.
    }
  };
  const notify: Notify = (notice) => {
    tell(notice);
    if (isWorker && ('event' in notice || 'events' in notice)) news.post({ type: 'notice', notice });
  };
  news.subscribe((item) => {
    if (item.type === 'notice') tell(item.notice);
  });
  const options = deliveryOptions(setup.options, notify);
  const fail: DeliveryPage['fail'] = (message, cause) =>
    notify({ type: 'failed', kind: 'storage', message, ...(cause !== undefined && { cause }) });
  return { name, tab: newId(), isWorker, newId, clock, random, lifecycle, options, notify, fail, news };
};
