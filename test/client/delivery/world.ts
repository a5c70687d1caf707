import { createDelivery, type Delivery, type DeliverySetup } from '../../../src/client/delivery/index.ts';
import type { Notice } from '../../../src/client/notice.ts';
import { createMemoryStore } from '../../../src/client/platform/memory-store.ts';
import type { Moment, PageLifecycle } from '../../../src/client/platform/page-lifecycle.ts';
import type { TabLink } from '../../../src/client/platform/tab-channel.ts';
import { createVirtualClock, settle } from './virtual-clock.ts';

export interface SentEvent {
  id: string;
  event_type: string;
  timestamp: string;
}
export interface SentRequest {
  url: string;
  body: { external_user_id: string; app_id: string; app_version: string; events: SentEvent[] };
  text: string;
  headers: Headers;
  keepalive: boolean;
  redirect: RequestRedirect;
}
/** What the service does with a request; `undefined` accepts all of it. */
export type Behaviour = (request: SentRequest) => Response | Promise<Response> | undefined;

export const json = (status: number, body: unknown, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });

export const accept = (count: number): Response => json(202, { events_processed: count, message: 'success' });

/** 202 that skips the given indexes. */
export const skip = (count: number, indexes: number[], type = "'timestamp' is required"): Response =>
  json(202, {
    events_processed: count - indexes.length,
    message: 'success',
    errors: indexes.map((index) => ({ type, index })),
  });

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

/** Tabs of one browser profile that share a store and a channel, and a service that remembers what it was sent. */
export const createWorld = () => {
  const clock = createVirtualClock();
  const store = createMemoryStore();
  const requests: SentRequest[] = [];
  const links = new Set<{ tab: object; listeners: ((event: { data: unknown }) => void)[] }>();
  let behaviour: Behaviour = () => undefined;
  /** Natural key of every event the service accepted, with how often it came. */
  const accepted = new Map<string, number>();

  const fetch = async (input: RequestInfo | URL): Promise<Response> => {
    const request = input as Request;
    const text = await request.text();
    const sent: SentRequest = {
      url: request.url,
      body: JSON.parse(text),
      text,
      headers: request.headers,
      keepalive: request.keepalive,
      redirect: request.redirect,
    };
    requests.push(sent);
    const answer = (await behaviour(sent)) ?? accept(sent.body.events.length);
    if (answer.status === 202) {
      const { errors = [] } = (await answer
        .clone()
        .json()
        .catch(() => ({}))) as { errors?: { index: number }[] };
      const skipped = new Set(errors.map(({ index }) => index));
      sent.body.events.forEach((event, i) => {
        const key = `${sent.body.external_user_id} ${event.id} ${event.event_type} ${event.timestamp}`;
        if (!skipped.has(i)) accepted.set(key, (accepted.get(key) ?? 0) + 1);
      });
    }
    return answer;
  };

  const openChannel = (): TabLink => {
    const link = { tab: {}, listeners: [] as ((event: { data: unknown }) => void)[] };
    links.add(link);
    return {
      postMessage(message) {
        const data = structuredClone(message);
        for (const other of [...links]) {
          if (other === link) continue;
          queueMicrotask(() => {
            if (links.has(other)) for (const listener of other.listeners) listener({ data });
          });
        }
      },
      addEventListener: (_, listener) => link.listeners.push(listener),
      close: () => links.delete(link),
    };
  };

  const openTab = (setup: Partial<DeliverySetup> = {}, { prerendering = false } = {}) => {
    const notices: Notice[] = [];
    const page = createFakeLifecycle(prerendering);
    const delivery: Delivery = createDelivery({
      endpoint: 'https://api.test',
      apiKey: 'client-key',
      appId: 'app-1',
      appVersion: '1.0.0',
      openStore: () => store,
      fetch,
      clock,
      random: () => 0.5,
      lifecycle: page.lifecycle,
      openChannel,
      notify: (notice) => notices.push(notice),
      ...setup,
    });
    return {
      delivery,
      notices,
      ...page,
      capture: (bannerId = 'b1', type: 'impression' | 'click' | 'dismiss' = 'click', userId = 'u1') =>
        delivery.capture({ type, bannerId, placementId: 'p1', userId }),
    };
  };

  return {
    clock,
    store,
    requests,
    accepted,
    fetch,
    openChannel,
    openTab,
    settle,
    serve(next: Behaviour) {
      behaviour = next;
    },
  };
};

export type World = ReturnType<typeof createWorld>;

/** The equation of the diagnostics. */
export const isBalanced = (d: Awaited<ReturnType<Delivery['diagnostics']>>): boolean =>
  d.captured ===
  d.delivered + d.pending + d.inDoubt + d.deadLetters + d.discarded + d.evicted + d.expired + d.purged;
