import { acceptInStore } from './banners/accept-in-store.ts';
import { recordKey } from './banners/user-record.ts';
import { followTabs } from './delivery/apply-decision.ts';
import { createOutbox } from './delivery/create-delivery.ts';
import type { DeliverySetup } from './delivery/delivery.ts';
import { createTrouble } from './delivery/trouble/trouble.ts';
import { workerMessages } from './delivery/worker-handoff.ts';
import { createNotices, type Listener, type Notices } from './notices.ts';
import type { DeliveryChoices, EndpointOptions } from './options/option-schema.ts';
import { readApiOptions } from './options/options.ts';
import { createReportInvalid } from './options/validate-options.ts';
import { createPermission } from './permission.ts';
import { createClock } from './platform/clock.ts';
import { createPostJson, createUserTokens } from './platform/http.ts';
import { createIdbStore } from './platform/idb-store.ts';
import { type PageLifecycle, withLifecycle } from './platform/page.ts';
import { withTimeout } from './platform/pauses.ts';
import { createTokenSource, type ProvideToken } from './user/token-source.ts';

/** Options of `installDelivery`. App and endpoint must match those of the pages. */
export type InstallDeliveryOptions = {
  /** Client key of the pages, or a function that returns the current one. */
  apiKey: string | (() => string | Promise<string>);
  /**
   * Same function as in `userTokens()` of the pages. Set it if the app requires user tokens. Otherwise, the service rejects the
   * worker's events, and they wait for a page. Default: no token is sent.
   */
  userToken?: ProvideToken | undefined;
  /** ID of the app of the pages. Each app has its own log. */
  appId: string;
  /** Same delivery options as in the pages. Default: the defaults of the client. */
  delivery?: DeliveryChoices | undefined;
  /** Called with each notice of the sender. */
  onNotice?: Listener | undefined;
} & EndpointOptions;

/** Extendable event of the worker. The types of `lib.webworker` and the DOM conflict. */
interface WorkerEvent {
  waitUntil(promise: Promise<unknown>): void;
  tag?: string;
  data?: unknown;
  source?: { postMessage(message: unknown): void } | null;
}

interface WorkerScope {
  addEventListener(type: 'message' | 'sync', listener: (event: WorkerEvent) => void): void;
}

/** A worker is never hidden, prerendered or unloaded. */
const NO_PAGE: PageLifecycle = {
  isVisible: () => true,
  isPrerendering: () => false,
  whenActivated: async () => undefined,
  on: () => () => undefined,
};

const install = (options: InstallDeliveryOptions, { notify, fail }: Notices): void => {
  const { endpoint, apiKey, appId, logName } = readApiOptions(options);
  const banners = createIdbStore('placard-banners');
  const toKey = (userId: string) => recordKey(endpoint, appId, userId);
  let accepting: Promise<unknown> = Promise.resolve();
  const clock = createClock();
  const permission = withLifecycle(
    createPermission('enabled', clock.now, () => false),
    NO_PAGE,
  );
  const { userToken: provide } = options;
  const userTokens = createUserTokens(
    provide && (async (pause) => createTokenSource({ ...clock, provide, pause, withTimeout })),
    clock.now,
    fail,
  );
  // A worker cannot use dynamic imports.
  const loadTrouble = async () => ({ createTrouble });
  const setup: DeliverySetup = {
    postJson: createPostJson(endpoint, clock.after),
    apiKey,
    appId,
    appVersion: '',
    logName,
    delivery: options.delivery,
    onInvalidOption: createReportInvalid(notify),
    userTokens,
    permission,
    notify,
    fail,
    openStore: createIdbStore,
    clock,
    random: Math.random,
    lifecycle: NO_PAGE,
    onDismissed(dismissals) {
      const accepted = () => acceptInStore(banners, toKey, dismissals, Date.now());
      // A dismissal stays in effect until its acceptance is recorded. If recording fails, it only stays longer.
      accepting = accepting.then(accepted).catch(() => undefined);
    },
    isWorker: true,
  };
  const outbox = createOutbox(setup, loadTrouble);
  followTabs(outbox);
  const flush = async () => {
    const outcome = await outbox.flush();
    await accepting;
    return outcome;
  };

  const scope: WorkerScope = globalThis;
  const { syncTag, ping, pong, send } = workerMessages(logName, userTokens.isUsed);
  scope.addEventListener('message', (event) => {
    // Without a reply the page sends its own exit flush. After a wipe this worker must not send.
    if (event.data === ping && permission.maySend()) event.source?.postMessage(pong);
    if (event.data === send) event.waitUntil(flush());
  });
  scope.addEventListener('sync', (event) => {
    if (event.tag !== syncTag) return;
    event.waitUntil(
      flush().then(async ({ pending }) => {
        // The browser retries a rejected sync on its own schedule.
        if (pending > 0) throw new Error(`${pending} events pending`);
        if ((await outbox.diagnostics()).memoryMode) throw new Error('storage unavailable');
      }),
    );
  });
};

/**
 * Installs the sender in a service worker. The sender sends the events that the pages stored, from the same log, on page exit or
 * when the network is back. Call it once, at the top level of the worker script. It captures no events, and leaves rejected events
 * to the `onEventRejected` function of the next page. If an option is missing or invalid, it does nothing and reports the error in the
 * console and as a `failed` notice; the worker's other code is unaffected.
 */
export const installDelivery = (options: InstallDeliveryOptions): void => {
  const notices = createNotices();
  if (options?.onNotice) notices.subscribe(options.onNotice);
  try {
    install(options, notices);
  } catch (cause) {
    const message = `Placard sender is off: ${cause}`;
    console.error(message);
    notices.fail('config', message, cause);
  }
};
