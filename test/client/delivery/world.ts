import type { EventType } from '../../../src/client/banner.ts';
import { createDelivery, type TroubleChunk } from '../../../src/client/delivery/create-delivery.ts';
import type { Delivery, OnEventRejected } from '../../../src/client/delivery/delivery.ts';
import { LOG_STATE_KEY, type LogState } from '../../../src/client/delivery/log/records.ts';
import { createTrouble } from '../../../src/client/delivery/trouble/trouble.ts';
import { createWorkerHandoff } from '../../../src/client/delivery/worker-handoff.ts';
import { createLoadChunk } from '../../../src/client/load-chunk.ts';
import { createNotices, type Notice, type Notify } from '../../../src/client/notices.ts';
import type { DeliveryChoices } from '../../../src/client/options/option-schema.ts';
import { logName } from '../../../src/client/options/options.ts';
import { createReportInvalid } from '../../../src/client/options/validate-options.ts';
import { type ConsentState, createPermission } from '../../../src/client/permission.ts';
import type { Clock } from '../../../src/client/platform/clock.ts';
import { createPostJson } from '../../../src/client/platform/http.ts';
import {
  type BroadcastChannelLike,
  type LifecycleEvent,
  type PageLifecycle,
  withLifecycle,
} from '../../../src/client/platform/page.ts';
import type { Store } from '../../../src/client/platform/store.ts';
import type { ProvideToken } from '../../../src/client/user/token-source.ts';
import {
  createFakeService,
  createFaultyStore,
  createMemoryDisk,
  createVirtualClock,
  type FakeServiceOptions,
} from '../../../src/testing/index.ts';
import { aUserTokens } from '../../helpers/user-tokens.ts';
import { withConsent } from '../../helpers/with-consent.ts';

export const TRACK = '/v1/device-messaging/banners/track';

interface TrackBody {
  external_user_id: string;
  app_id: string;
  app_version: string;
  events: { id: string; event_type: string; timestamp: string }[];
}

/** A page lifecycle that the test controls. */
export const createFakeLifecycle = (prerendering = false) => {
  const listeners = new Map<LifecycleEvent, Set<() => void>>();
  let isVisible = true;
  let isPrerendering = prerendering;
  const lifecycle: PageLifecycle = {
    isVisible: () => isVisible,
    isPrerendering: () => isPrerendering,
    whenActivated: async () => undefined,
    on(moment, listener) {
      const set = listeners.get(moment) ?? new Set();
      listeners.set(moment, set.add(listener));
      return () => set.delete(listener);
    },
  };
  return {
    lifecycle,
    tell(moment: LifecycleEvent) {
      if (moment === 'hidden' || moment === 'visible') isVisible = moment === 'visible';
      if (moment === 'activated') isPrerendering = false;
      for (const listener of [...(listeners.get(moment) ?? [])]) listener();
    },
    listeners: () => [...listeners.values()].reduce((sum, set) => sum + set.size, 0),
  };
};

/** Channels between the tabs of one test, by name. */
const createLinks = () => {
  const links = new Set<{ name: string; listeners: ((event: { data: unknown }) => void)[] }>();
  return (name: string): BroadcastChannelLike => {
    const link: { name: string; listeners: ((event: { data: unknown }) => void)[] } = { name, listeners: [] };
    links.add(link);
    return {
      postMessage(message) {
        const data = structuredClone(message);
        for (const other of links) {
          if (other === link || other.name !== name) continue;
          queueMicrotask(() => {
            if (links.has(other)) for (const listener of other.listeners) listener({ data });
          });
        }
      },
      addEventListener: (_, listener) => link.listeners.push(listener),
      close: () => links.delete(link),
    };
  };
};

/** A channel without delivery, as if BroadcastChannel were denied. */
export const deafLink = (): BroadcastChannelLike => ({
  postMessage: () => undefined,
  addEventListener: () => undefined,
  close: () => undefined,
});

/** Options of a tab's delivery that a test may set. */
export interface TabSetup {
  apiKey?: string | (() => string | Promise<string>);
  userToken?: ProvideToken;
  /** Rejects if the chunk of user tokens cannot be loaded. */
  loadTokenSource?: () => Promise<void>;
  appId?: string;
  appVersion?: string;
  fetch?: typeof fetch;
  consent?: ConsentState;
  options?: DeliveryChoices;
  openStore?: (name: string) => Store;
  clock?: Clock;
  random?: () => number;
  openChannel?: (name: string) => BroadcastChannelLike;
  notify?: Notify;
  onEventRejected?: OnEventRejected;
  evictCache?: () => Promise<void>;
  isWorker?: boolean;
  loadTrouble?: () => Promise<TroubleChunk>;
}

/** Loads the trouble chunk of a tab, unless it is blocked. */
export const createTroubleSwitch = (isBlocked = false) => ({
  async load(): Promise<TroubleChunk> {
    if (isBlocked) throw new TypeError('Failed to fetch dynamically imported module');
    return { createTrouble, createWorkerHandoff };
  },
  block(): void {
    isBlocked = true;
  },
  allow(): void {
    isBlocked = false;
  },
  isBlocked: () => isBlocked,
});

/** Pseudorandom numbers, the same in every run. */
export const createRandom = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** Tabs of one browser profile, with a shared disk, channel, clock and service. */
export const createWorld = (serviceOptions: FakeServiceOptions = {}) => {
  const clock = createVirtualClock();
  const disk = createMemoryDisk();
  const service = createFakeService({
    users: 'everyone',
    now: clock.now,
    setTimeout: clock.setTimeout,
    ...serviceOptions,
  });
  const openChannel = createLinks();
  const name = logName(service.origin, 'app-1');
  let tabs = 0;
  const options: { keepalive: boolean; redirect: RequestRedirect; url: string }[] = [];

  const openTab = (setup: TabSetup = {}, { prerendering = false } = {}) => {
    tabs += 1;
    const notices: Notice[] = [];
    const { notify, fail, subscribe } = createNotices();
    subscribe(setup.notify ?? ((notice) => notices.push(notice)));
    const page = createFakeLifecycle(prerendering);
    const session = disk.session();
    let isAlive = true;
    let isStopped = false;
    const whileAlive = <T>(value: Promise<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        value.then(
          (result) => isAlive && resolve(result),
          (error) => isAlive && reject(error),
        );
      });
    const aliveClock: Clock = {
      ...clock,
      after: (delayMs, callback) => clock.after(delayMs, () => isAlive && callback()),
    };
    const fetchWhileAlive: typeof fetch = (input, init) => {
      const { keepalive, redirect, url } = new Request(input, init);
      options.push({ keepalive, redirect, url });
      return whileAlive(service.fetch(input, init));
    };
    const { apiKey = 'client-key', appId = 'app-1', appVersion = '1.0.0' } = setup;
    const userTokens = aUserTokens(setup.userToken, aliveClock, fail, setup.loadTokenSource);
    const send = setup.fetch ?? fetchWhileAlive;
    const permission = withLifecycle(
      createPermission(setup.consent ?? 'enabled', clock.now, () => isStopped),
      page.lifecycle,
    );
    permission.subscribe(() =>
      notify({ type: 'consent', state: permission.mayAct() ? 'enabled' : 'disabled' }),
    );
    const loadChunk = createLoadChunk((load) => load(), aliveClock.after, fail);
    const loadTrouble = setup.loadTrouble ?? (async () => ({ createTrouble, createWorkerHandoff }));
    const delivery: Delivery = createDelivery(
      {
        postJson: createPostJson(service.origin, (setup.clock ?? aliveClock).after, send),
        apiKey,
        appId,
        appVersion,
        logName: logName(service.origin, appId),
        delivery: setup.options,
        onInvalidOption: createReportInvalid(notify),
        onEventRejected: setup.onEventRejected,
        userTokens,
        permission,
        notify,
        fail,
        openStore: setup.openStore ?? session.openStore,
        clock: setup.clock ?? aliveClock,
        random: setup.random ?? createRandom(tabs),
        lifecycle: page.lifecycle,
        openChannel: setup.openChannel ?? openChannel,
        ...(setup.evictCache && { evictCache: setup.evictCache }),
        isWorker: setup.isWorker ?? false,
      },
      () => loadChunk(loadTrouble),
    );
    return {
      delivery: {
        ...withConsent(delivery, permission),
        stop() {
          isStopped = true;
          delivery.stop();
        },
      },
      userTokens,
      notices,
      ...page,
      capture: (bannerId = 'b1', type: EventType = 'click', userId = 'u1') =>
        delivery.capture({ type, bannerId, placementId: 'p1', userId }),
      captureMany: (count: number, type: EventType = 'click', userId = 'u1', prefix = 'b') =>
        Promise.all(
          Array.from({ length: count }, (_, i) =>
            delivery.capture({ type, bannerId: `${prefix}${i}`, placementId: 'p1', userId }),
          ),
        ),
      getNotices: <T extends Notice['type']>(type: T) =>
        notices.filter((notice): notice is Extract<Notice, { type: T }> => notice.type === type),
      /** Crashes the renderer: this tab runs no further code. */
      kill() {
        isAlive = false;
        session.kill();
      },
    };
  };

  return {
    clock,
    disk,
    service,
    openTab,
    openChannel,
    /** Options of each request, which the service does not see. */
    options,
    /** Runs all pending microtasks and due timers. */
    settle: () => clock.advance(0),
    bodies: () => service.requests.map(({ body }) => body as TrackBody),
    /** Banner IDs of each request. */
    sent: () => service.requests.map(({ body }) => (body as TrackBody).events.map(({ id }) => id)),
    name,
    records: () => disk.records(name),
    state: () =>
      disk.records(name).find(([key]) => String(key) === String(LOG_STATE_KEY))?.[1] as LogState | undefined,
  };
};

export type World = ReturnType<typeof createWorld>;

/** A world with one tab, whose store fails on demand. */
export const createFaultyWorld = () => {
  const world = createWorld();
  const store = createFaultyStore(world.disk.openStore(world.name));
  const openTab = (setup: TabSetup = {}) => world.openTab({ openStore: () => store, ...setup });
  return { world, store, openTab };
};
