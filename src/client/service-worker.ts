import { INSTANCES, type Instance } from '../protocol/index.ts';
import { acceptInStore } from './banners/accept-in-store.ts';
import { recordKey } from './banners/user-record.ts';
import { createDelivery } from './delivery/create-delivery.ts';
import type { DeliveryOptions } from './delivery/delivery-options.ts';
import { handOverWords } from './delivery/hand-over.ts';
import { outboxName } from './delivery/outbox-name.ts';
import { configError } from './errors.ts';
import type { Listener } from './notice.ts';
import { createClock } from './platform/clock.ts';
import { createIdbStore } from './platform/idb-store.ts';

/** What the sender in a service worker needs: the same app and endpoint as the pages. */
export type SenderOptions = {
  /** The client key of the pages, or a function that gives the current one. */
  apiKey: string | (() => string | Promise<string>);
  /** The app of the pages: each app has an outbox of its own. */
  appId: string;
  /** The same choices as in the pages. */
  delivery?: Partial<DeliveryOptions>;
  /** Hears what the sender does. */
  onNotice?: Listener;
} & ({ instance: Instance; endpoint?: never } | { endpoint: string; instance?: never });

/** An event of the worker that may be kept waiting; `lib.webworker` and the DOM's types do not go together. */
interface WorkerEvent {
  waitUntil(promise: Promise<unknown>): void;
  tag?: string;
  data?: unknown;
  source?: { postMessage(message: unknown): void } | null;
}

interface WorkerScope {
  addEventListener(type: 'message' | 'sync', listener: (event: WorkerEvent) => void): void;
}

/**
 * Makes this service worker send the events that the pages stored, on the same outbox, when a page goes or the network
 * is back: call it once, at the top of the worker's script. It captures nothing, and leaves skipped events to the
 * `correct` hook of the next page.
 */
export const installSender = (options: SenderOptions): void => {
  const { apiKey, appId, instance, endpoint, delivery, onNotice } = options;
  const base = endpoint ?? INSTANCES[instance];
  if (base === undefined) throw configError('instance', 'a known instance, or use "endpoint"');
  const banners = createIdbStore('placard-banners');
  const keyOf = (userId: string) => recordKey(base.replace(/\/+$/, ''), appId, userId);
  let accepting: Promise<unknown> = Promise.resolve();
  const notify: Listener = (notice) => {
    if (notice.type === 'delivered') {
      accepting = Promise.all([accepting, acceptInStore(banners, keyOf, notice.events, Date.now())]).catch(
        () => {
          // Until it is known to be accepted a dismissal holds: it only does so for longer.
        },
      );
    }
    onNotice?.(notice);
  };
  const scope = globalThis as unknown as WorkerScope;
  const sender = createDelivery({
    endpoint: base,
    apiKey,
    appId,
    appVersion: '',
    options: delivery,
    openStore: createIdbStore,
    clock: createClock(),
    correct: 'in-a-page',
    onlyOnDemand: true,
    notify,
  });
  const flush = async () => {
    const outcome = await sender.flush();
    await accepting;
    return outcome;
  };

  const { syncTag, areYouThere, here, send } = handOverWords(outboxName(base, appId));
  scope.addEventListener('message', (event) => {
    if (event.data === areYouThere) event.source?.postMessage(here);
    if (event.data === send) event.waitUntil(flush());
  });
  scope.addEventListener('sync', (event) => {
    if (event.tag !== syncTag) return;
    event.waitUntil(
      flush().then(({ pending }) => {
        // A rejected sync is tried again by the browser, at its own pace.
        if (pending > 0) throw new Error(`${pending} events wait`);
      }),
    );
  });
};
