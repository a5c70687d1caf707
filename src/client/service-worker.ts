import { acceptInStore } from './banners/accept-in-store.ts';
import { recordKey } from './banners/user-record.ts';
import { createConsent } from './consent/consent.ts';
import { createUserTokens, type ProvideToken } from './credentials/credentials.ts';
import type { DeliverySetup } from './delivery/delivery.ts';
import { handOffMessages } from './delivery/hand-off.ts';
import { createOutbox } from './delivery/outbox.ts';
import { createTrouble } from './delivery/trouble/trouble.ts';
import { createNotices, type Listener, type Notices } from './notices.ts';
import type { DeliveryChoices, EndpointOptions } from './options/choices.ts';
import { readApiOptions } from './options/options.ts';
import { createClock } from './platform/clock.ts';
import { createIdbStore } from './platform/idb-store.ts';
import type { PageLifecycle } from './platform/page-lifecycle.ts';

/** What the sender in a service worker needs: the same app and endpoint as the pages. */
export type SenderOptions = {
  /** The client key of the pages, or a function that gives the current one. */
  apiKey: string | (() => string | Promise<string>);
  /**
   * The same as in the pages, where the app needs proof of the user. A worker without it sends no proof: the service refuses such events, and
   * they wait for a page.
   */
  userToken?: ProvideToken | undefined;
  /** The app of the pages: each app has a log of its own. */
  appId: string;
  /** The same choices as in the pages. */
  delivery?: DeliveryChoices | undefined;
  /** Called with what the sender does. */
  onNotice?: Listener | undefined;
} & EndpointOptions;

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

/** A worker is never hidden, prerendered or left. */
const NO_PAGE: PageLifecycle = {
  isVisible: () => true,
  isPrerendering: () => false,
  whenActivated: async () => undefined,
  on: () => () => undefined,
};

const install = (options: SenderOptions, { notify, fail }: Notices): void => {
  const { endpoint, apiKey, appId, logName } = readApiOptions(options);
  const banners = createIdbStore('placard-banners');
  const keyOf = (userId: string) => recordKey(endpoint, appId, userId);
  let accepting: Promise<unknown> = Promise.resolve();
  const clock = createClock();
  const consent = createConsent('enabled', clock.now);
  const userTokens = createUserTokens(options.userToken, clock, fail);
  // A worker cannot load a module later.
  const loadTrouble = async () => ({ createTrouble });
  const setup: DeliverySetup = {
    api: { endpoint, apiKey, appId, appVersion: '', logName },
    userTokens,
    consent,
    options: options.delivery,
    platform: {
      openStore: createIdbStore,
      clock,
      random: Math.random,
      lifecycle: NO_PAGE,
    },
    host: {
      notify,
      fail,
      onDismissed(dismissals) {
        const accepted = () => acceptInStore(banners, keyOf, dismissals, Date.now());
        // Until it is known to be accepted a dismissal holds: where this fails it only does so for longer.
        accepting = accepting.then(accepted).catch(() => undefined);
      },
    },
    isWorker: true,
    isStopped: () => false,
  };
  const sender = createOutbox(setup, loadTrouble);
  const flush = async () => {
    const outcome = await sender.flush();
    await accepting;
    return outcome;
  };

  const scope = globalThis as unknown as WorkerScope;
  const { syncTag, areYouThere, here, send } = handOffMessages(logName, userTokens.isUsed);
  scope.addEventListener('message', (event) => {
    // Without an answer the page makes its last flush itself. After a wipe this worker may not send.
    if (event.data === areYouThere && consent.maySend()) event.source?.postMessage(here);
    if (event.data === send) event.waitUntil(flush());
  });
  scope.addEventListener('sync', (event) => {
    if (event.tag !== syncTag) return;
    event.waitUntil(
      flush().then(async ({ pending }) => {
        // A rejected sync is tried again by the browser, at its own pace.
        if (pending > 0) throw new Error(`${pending} events wait`);
        if ((await sender.diagnostics()).memoryMode) throw new Error('the disk cannot be read');
      }),
    );
  });
};

/**
 * Makes this service worker send the events that the pages stored, from the same log, when a page goes or the network
 * is back: call it once, at the top of the worker's script. It captures nothing, and leaves skipped events to the
 * `correct` hook of the next page. Where an option is missing or wrong it does nothing, and says so in the console and in
 * a `failed` notice: the worker's other work goes on.
 */
export const installSender = (options: SenderOptions): void => {
  const notices = createNotices();
  if (options?.onNotice) notices.subscribe(options.onNotice);
  try {
    install(options, notices);
  } catch (cause) {
    const message = `Placard sends nothing from this worker: ${cause}`;
    console.error(message);
    notices.fail('config', message, cause);
  }
};
