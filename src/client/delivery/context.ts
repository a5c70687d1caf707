import type { Choice } from '../consent/consent.ts';
import type { UserTokens } from '../credentials/user-tokens.ts';
import type { Fail, Notice, Notify } from '../notices.ts';
import { type DeliveryOptions, deliveryOptions } from '../options/choices.ts';
import { createTabChannel, type TabChannel } from '../platform/tab-channel.ts';
import type { Pause } from '../platform/waits.ts';
import type { DeliverySetup } from './delivery.ts';

/** The messages between the tabs. A tab that misses one finds the same in the log. */
export type TabNews =
  /** A request has been answered: another tab that waits may send, after this wait. */
  | { type: 'idle'; wait: Pause }
  /** These left the queue, by their `keyText`. */
  | { type: 'gone'; keys: string[] }
  /** The service worker has no host, so each page passes the worker's notices on to its own. */
  | { type: 'notice'; notice: Notice }
  | { type: 'consent'; choice: Choice }
  | { type: 'wiped' };

/** What the parts of the delivery share: of the page, or the service worker, that it runs in. */
export interface DeliveryContext extends Pick<DeliverySetup, 'api' | 'consent' | 'host' | 'isWorker'> {
  /** Names the log. */
  name: string;
  /** Names this page. */
  tab: string;
  newId: () => string;
  clock: DeliverySetup['platform']['clock'];
  random: () => number;
  lifecycle: DeliverySetup['platform']['lifecycle'];
  options: DeliveryOptions;
  userTokens: UserTokens;
  news: TabChannel<TabNews>;
  notify: Notify;
  fail: Fail;
  /** False without consent, while the page is prerendered, and once the client is stopped. */
  canSend: () => boolean;
  isStopped: () => boolean;
  stop: () => void;
}

export const createDeliveryContext = (setup: DeliverySetup): DeliveryContext => {
  const { api, consent, platform, host, isWorker } = setup;
  const { clock, random, lifecycle, openChannel } = platform;
  const name = api.logName;
  const newId = () => `${clock.now().toString(36)}-${Math.floor(random() * 2 ** 52).toString(36)}`;
  const news = createTabChannel<TabNews>(name, lifecycle, openChannel);
  let isStopped = false;

  const notify: Notify = (notice) => {
    host.notify(notice);
    if (isWorker && ('event' in notice || 'events' in notice)) news.post({ type: 'notice', notice });
  };
  news.subscribe((item) => {
    if (item.type === 'notice') host.notify(item.notice);
  });

  return {
    ...{ api, consent, host, isWorker, name, newId, clock, random, lifecycle, news, notify },
    fail: host.fail,
    tab: newId(),
    options: deliveryOptions(setup.options, notify),
    userTokens: api.userTokens,
    canSend: () => !isStopped && !lifecycle.isPrerendering() && consent.maySend(),
    isStopped: () => isStopped,
    stop() {
      isStopped = true;
      news.close();
    },
  };
};
