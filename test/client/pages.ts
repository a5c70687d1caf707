import { afterEach, beforeEach, expect, vi } from 'vitest';
import {
  createPlacard,
  type Notice,
  type Placard,
  type PlacardOptions,
  type PlacementHook,
  type Platform,
  type Store,
} from '../../src/client/index.ts';
import { createMemoryStore } from '../../src/client/platform/store.ts';
// Loaded before the clock is a fake one.
import '../../src/client/trouble-chunk.ts';
import { createFakeService, type FakeService, buildBanner as wire } from '../../src/testing/index.ts';
import { patience } from '../helpers/patience.ts';

/** An IntersectionObserver that reports every element as fully visible, at once. */
class SeesEverything {
  readonly report: IntersectionObserverCallback;
  constructor(report: IntersectionObserverCallback) {
    this.report = report;
  }
  observe(element: Element): void {
    const rect = new DOMRect(0, 0, 300, 250);
    const entry = {
      isIntersecting: true,
      intersectionRatio: 1,
      boundingClientRect: rect,
      intersectionRect: rect,
    };
    queueMicrotask(() =>
      this.report(
        [{ ...entry, target: element } as unknown as IntersectionObserverEntry],
        this as unknown as IntersectionObserver,
      ),
    );
  }
  disconnect(): void {
    // It reports each element once, so there is nothing to stop.
  }
}

/** Each poll advances the fake time by 50 ms; a busy machine may need many polls. */
export const PATIENCE = { timeout: patience(15_000), interval: 50 };

const running: Placard[] = [];

/** Sets up fake timers, and stops every client after its test. Call it once at the top of a file. */
export const stagePages = (): void => {
  beforeEach(() => {
    vi.useFakeTimers({ shouldAdvanceTime: true, advanceTimeDelta: 5 });
    document.body.replaceChildren();
    localStorage.clear();
  });
  afterEach(() => {
    for (const placard of running.splice(0)) placard.stop();
    vi.useRealTimers();
  });
};

/** Data of one browser profile: stores by name. */
export const aProfile = () => {
  const stores = new Map<string, Store>();
  return (name: string): Store => {
    if (!stores.has(name)) stores.set(name, createMemoryStore());
    return stores.get(name)!;
  };
};

export const hero = wire('home_hero', { headline: 'Summer sale' }, { id: 'bnr-1' });

export const open = ({
  service = createFakeService({ banners: { home_hero: hero } }),
  openStore = aProfile(),
  platform = {} as Partial<Platform>,
  ...options
}: Partial<Omit<PlacardOptions, 'platform'>> & {
  service?: FakeService;
  openStore?: (name: string) => Store;
  platform?: Partial<Platform>;
} = {}) => {
  const notices: Notice[] = [];
  const placard = createPlacard({
    endpoint: service.origin,
    apiKey: 'client-key',
    appId: 'app',
    appVersion: '1',
    userId: 'u-1',
    ...options,
    platform: {
      fetch: service.fetch,
      openStore,
      IntersectionObserver: SeesEverything as unknown as typeof IntersectionObserver,
      ...platform,
    },
  } as PlacardOptions);
  running.push(placard);
  placard.subscribe((notice) => notices.push(notice));
  const of = <T extends Notice['type']>(type: T) =>
    notices.filter((notice): notice is Extract<Notice, { type: T }> => notice.type === type);
  const heard = (type: Notice['type'], times = 1) =>
    vi.waitFor(() => expect(of(type).length).toBeGreaterThanOrEqual(times), PATIENCE);
  return { placard, service, openStore, notices, of, heard };
};

export const aSlot = () => {
  const element = document.createElement('div');
  document.body.append(element);
  return element;
};

export const draw: PlacementHook = (banner, { element }) => {
  element.textContent = String(banner.properties.headline?.value ?? banner.id);
  return () => element.replaceChildren();
};

/** Users with a record in this profile. Searching record texts for an ID could match a random session name. */
export const usersIn = async (openStore: (name: string) => Store) =>
  (await openStore('placard-banners').entries()).map(([key]) => [key].flat().at(-1));

export const syncs = (service: FakeService) =>
  service.requests
    .filter(({ path }) => path.endsWith('/sync'))
    .map(({ body }) => (body as { placements: string[] }).placements);

/** Channels between the tabs of one test, by name. */
export const someChannels = () => {
  const channels = new Map<string, Set<(event: { data: unknown }) => void>>();
  return (name: string) => {
    const mine = new Set<(event: { data: unknown }) => void>();
    const all = channels.get(name) ?? new Set();
    channels.set(name, all);
    return {
      postMessage(data: unknown) {
        for (const listener of all) if (!mine.has(listener)) queueMicrotask(() => listener({ data }));
      },
      addEventListener(_: 'message', listener: (event: { data: unknown }) => void) {
        mine.add(listener);
        all.add(listener);
      },
      close() {
        for (const listener of mine) all.delete(listener);
      },
    };
  };
};
