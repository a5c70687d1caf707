import type { EventType } from '../../../src/client/banner-event.ts';
import {
  createDelivery,
  type Delivery,
  type DeliverySetup,
  outboxName,
} from '../../../src/client/delivery/index.ts';
import type { Notice } from '../../../src/client/notice.ts';
import type { Moment, PageLifecycle } from '../../../src/client/platform/page-lifecycle.ts';
import type { TabLink } from '../../../src/client/platform/tab-channel.ts';
import { createFakeService, createMemoryDisk, createVirtualClock } from '../../../src/testing/index.ts';

export const TRACK = '/v1/device-messaging/banners/track';

interface TrackBody {
  external_user_id: string;
  app_id: string;
  app_version: string;
  events: { id: string; event_type: string; timestamp: string }[];
}

/** A page's life, told by the test. */
export const createFakeLifecycle = (prerendering = false) => {
  const listeners = new Map<Moment, Set<() => void>>();
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
    tell(moment: Moment) {
      if (moment === 'hidden' || moment === 'visible') isVisible = moment === 'visible';
      if (moment === 'activated') isPrerendering = false;
      for (const listener of [...(listeners.get(moment) ?? [])]) listener();
    },
    listeners: () => [...listeners.values()].reduce((sum, set) => sum + set.size, 0),
  };
};

/** Channels between the tabs of one test, by their names. */
const createLinks = () => {
  const links = new Set<{ name: string; listeners: ((event: { data: unknown }) => void)[] }>();
  return (name: string): TabLink => {
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

/** A channel that carries nothing, as where BroadcastChannel is denied. */
export const deafLink = (): TabLink => ({
  postMessage: () => undefined,
  addEventListener: () => undefined,
  close: () => undefined,
});

/** An engine's `fetchLater`: what it was given leaves when the page is gone, and nobody reads the answer. */
export const createFakeDeferredFetch = (fetch: typeof globalThis.fetch, quota = 65_536) => {
  let waiting: { url: string; init: RequestInit; request: { activated: boolean } }[] = [];
  const live = () => waiting.filter(({ init }) => !init.signal?.aborted);
  const bytes = ({ url, init }: { url: string; init: RequestInit }) =>
    url.length + String(init.body).length + JSON.stringify(init.headers).length;
  return {
    fetchLater: (url: string, init: RequestInit) => {
      const left = quota - live().reduce((sum, one) => sum + bytes(one), 0);
      if (bytes({ url, init }) > left) throw new DOMException('over the quota', 'QuotaExceededError');
      const request = { activated: false };
      waiting.push({ url, init, request });
      return request;
    },
    waiting: () => live().length,
    /** The page is gone, or on its way into the back/forward cache. */
    send() {
      const leaving = live();
      waiting = [];
      for (const { url, init, request } of leaving) {
        request.activated = true;
        void fetch(url, init).catch(() => undefined);
      }
    },
  };
};

/** Numbers that look random and are the same in every run. */
export const createRandom = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** Tabs of one browser profile: they share a disk, a channel, a clock and a service. */
export const createWorld = () => {
  const clock = createVirtualClock();
  const disk = createMemoryDisk();
  const service = createFakeService({ now: clock.now, setTimeout: clock.setTimeout });
  const openChannel = createLinks();
  const name = outboxName(service.origin, 'app-1');
  let tabs = 0;
  const options: { keepalive: boolean; redirect: RequestRedirect; url: string }[] = [];

  /** `quota`: of the engine's `fetchLater`, in bytes; without one it has none. */
  const openTab = (
    setup: Partial<DeliverySetup> = {},
    { prerendering = false, quota }: { prerendering?: boolean; quota?: number } = {},
  ) => {
    tabs += 1;
    const notices: Notice[] = [];
    const page = createFakeLifecycle(prerendering);
    const session = disk.session();
    const browser = createFakeDeferredFetch(service.fetch, quota);
    let isAlive = true;
    const whileAlive = <T>(value: Promise<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        value.then(
          (result) => isAlive && resolve(result),
          (error) => isAlive && reject(error),
        );
      });
    const delivery: Delivery = createDelivery({
      endpoint: service.origin,
      apiKey: 'client-key',
      appId: 'app-1',
      appVersion: '1.0.0',
      openStore: session.openStore,
      fetch: (input, init) => {
        const { keepalive, redirect, url } = input as Request;
        options.push({ keepalive, redirect, url });
        return whileAlive(service.fetch(input, init));
      },
      ...(quota !== undefined && { fetchLater: browser.fetchLater }),
      clock: {
        ...clock,
        after: (delayMs, callback) => clock.after(delayMs, () => isAlive && callback()),
      },
      random: createRandom(tabs),
      lifecycle: page.lifecycle,
      openChannel,
      notify: (notice) => notices.push(notice),
      ...setup,
    });
    return {
      delivery,
      notices,
      ...page,
      tell(moment: Moment) {
        page.tell(moment);
        if (moment === 'leave') browser.send();
      },
      /** Requests that the browser makes when the page is gone. */
      deferred: browser.waiting,
      capture: (bannerId = 'b1', type: EventType = 'click', userId = 'u1') =>
        delivery.capture({ type, bannerId, placementId: 'p1', userId }),
      captureMany: (count: number, type: EventType = 'click', userId = 'u1') =>
        Promise.all(
          Array.from({ length: count }, (_, i) =>
            delivery.capture({ type, bannerId: `b${i}`, placementId: 'p1', userId }),
          ),
        ),
      noticesOf: <T extends Notice['type']>(type: T) =>
        notices.filter((notice): notice is Extract<Notice, { type: T }> => notice.type === type),
      /** The renderer is gone: nothing of this tab happens any more. */
      kill() {
        isAlive = false;
        session.kill();
        browser.send();
      },
    };
  };

  return {
    clock,
    disk,
    service,
    openTab,
    openChannel,
    /** How each request was made, beside what the service saw. */
    options,
    /** Lets everything that is ready run. */
    settle: () => clock.advance(0),
    bodies: () => service.requests.map(({ body }) => body as TrackBody),
    /** The banner IDs of each request. */
    sent: () => service.requests.map(({ body }) => (body as TrackBody).events.map(({ id }) => id)),
    /** The store of the tabs. */
    name,
    records: () => disk.records(name),
  };
};

export type World = ReturnType<typeof createWorld>;
