import {
  act,
  createElement,
  lazy,
  type ReactNode,
  Suspense,
  useEffect,
  useLayoutEffect,
  useState,
} from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Banner, BannerBootstrap, Notice, Placard } from '../../src/client/index.ts';
import { createNotices } from '../../src/client/notices.ts';
import { createPlacements } from '../../src/client/placements/placements.ts';
import { createSlotHeights } from '../../src/client/placements/slot-heights.ts';
import { PlacardProvider, Placement, type RenderBanner } from '../../src/react/index.ts';
import { buildBanner } from '../helpers/a-banner.ts';
import { aBootstrap } from '../helpers/first-html.ts';

let root: Root;
beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  // React also logs errors that a boundary caught.
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  const container = document.createElement('div');
  document.body.replaceChildren(container);
  root = createRoot(container);
});
afterEach(async () => {
  await act(async () => root.unmount());
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** A page with one placement below a heading, in a boundary for the whole page, with the real slots of a client. */
const aPage = async (
  render: RenderBanner,
  {
    first = buildBanner(),
    bootstrap = null,
    shouldShow,
  }: { first?: Banner; bootstrap?: BannerBootstrap | null; shouldShow?: () => boolean } = {},
) => {
  const notices: Notice[] = [];
  const shown: (string | undefined)[] = [];
  let banner: Banner | null = first;
  let removalReason: 'dismissed' | null = null;
  const { notify, fail, subscribe } = createNotices();
  subscribe((notice) => notices.push(notice));
  const placements = createPlacements({
    permission: { mayWrite: () => false },
    slotSizes: { reserve: () => undefined },
    cache: {
      current: () => banner,
      removalReason: () => removalReason,
      now: Date.now,
      expiresInMs: () => Number.POSITIVE_INFINITY,
    },
    synced: new Set(),
    track: async () => undefined,
    snooze: async () => undefined,
    hasShouldShow: shouldShow !== undefined,
    after: () => () => undefined,
    fail,
    notify,
  });
  placements.attach({
    ...createSlotHeights(() => true),
    ...(shouldShow && { shouldShow }),
    onChange: (mounted) => shown.push(mounted.state.banner?.id),
  });
  const place = createElement(Placement, { placementId: 'home_hero', id: 'place', render });
  const page: ReactNode = createElement(
    Suspense,
    { fallback: 'Loading' },
    createElement('h1', {}, 'Shop'),
    place,
  );
  const placard = { mount: placements.mount, banner: () => banner, subscribe } as unknown as Placard;
  await act(async () => root.render(createElement(PlacardProvider, { placard, bootstrap }, page)));
  return {
    notices,
    /** Content that a watch of the slot would count, in order. */
    shown,
    place: () => document.querySelector<HTMLElement>('#place')!,
    types: () => notices.map(({ type }) => type),
    sync: (next: Banner | null, isRequested?: boolean) =>
      act(async () => {
        banner = next;
        placements.updateAll(isRequested);
      }),
    dismiss: () =>
      act(async () => {
        banner = null;
        removalReason = 'dismissed';
        placements.updateAll();
        removalReason = null;
      }),
    unmount: () => act(async () => root.render(null)),
  };
};

const headline = ({ properties }: Banner) => createElement('p', {}, String(properties['headline']?.value));

test('keeps the page while content suspends, mounts once and renders the content', async () => {
  let load: (hero: { default: (props: { banner: Banner }) => ReactNode }) => void = () => undefined;
  const LazyHero = lazy(() => new Promise<Parameters<typeof load>[0]>((resolve) => (load = resolve)));
  const page = await aPage((banner) => createElement(LazyHero, { banner }));
  expect(document.body.textContent).toBe('Shop');
  expect(page.types()).toEqual(['shown']);
  // Tells the impression counter that nothing is drawn yet.
  expect(page.place().getAttribute('aria-busy')).toBe('true');
  await act(async () => load({ default: ({ banner }) => headline(banner) }));
  expect(document.body.textContent).toBe('ShopSummer sale');
  expect(page.place().hasAttribute('aria-busy')).toBe(false);
  expect(page.types()).toEqual(['shown']);
});

test('removes content that never loads from the slot', async () => {
  const LazyHero = lazy(() => new Promise<never>(() => undefined));
  const page = await aPage((banner) => createElement(LazyHero, { banner } as object));
  expect(page.place().getAttribute('aria-busy')).toBe('true');
  const place = page.place();
  await page.unmount();
  expect(place.hasAttribute('aria-busy')).toBe(false);
});

const throwing = (banner: Banner): ReactNode => {
  if (banner.id === 'bnr-1') throw new Error('no headline');
  return headline(banner);
};
const Throwing = ({ banner }: { banner: Banner }) => throwing(banner);

test.each<[string, RenderBanner]>([
  ['itself', throwing],
  ['in a component', (banner) => createElement(Throwing, { banner })],
])(
  'case 68: a render that throws %s is reported, empties only its slot, and the next banner renders',
  async (_, render) => {
    const page = await aPage(render);
    expect(document.body.textContent).toBe('Shop');
    expect(page.notices.find(({ type }) => type === 'failed')).toEqual({
      type: 'failed',
      kind: 'hook',
      message: 'The hook of "home_hero" threw',
      cause: new Error('no headline'),
    });
    expect(page.notices.at(-1)).toEqual({ type: 'hidden', placementId: 'home_hero', reason: 'invalid' });
    // The slot has no content that could be counted.
    expect(page.shown.at(-1)).toBe(undefined);
    // The same banner is not retried.
    await page.sync(buildBanner());
    expect(page.types()).toEqual(['shown', 'failed', 'hidden']);
    await page.sync(buildBanner({ id: 'bnr-2' }));
    expect(document.body.textContent).toBe('ShopSummer sale');
    expect(page.shown.at(-1)).toBe('bnr-2');
  },
);

const Stumbling = ({ use }: { use: typeof useEffect }) => {
  use(
    () => () => {
      throw new Error('already destroyed');
    },
    [],
  );
  return 'Hero';
};

test.each([
  ['an effect', useEffect],
  ['a layout effect', useLayoutEffect],
])('case 68: reports %s that throws while the banner is removed, and keeps the page', async (_, use) => {
  const page = await aPage((banner) =>
    banner.id === 'bnr-1' ? createElement(Stumbling, { use }) : headline(banner),
  );
  expect(document.body.textContent).toBe('ShopHero');
  await page.dismiss();
  expect(document.body.textContent).toBe('Shop');
  expect(page.notices.find(({ type }) => type === 'failed')).toMatchObject({
    kind: 'hook',
    cause: new Error('already destroyed'),
  });
  await page.sync(buildBanner({ id: 'bnr-2' }));
  expect(document.body.textContent).toBe('ShopSummer sale');
});

test('case 68: reports content that throws after it was loaded', async () => {
  let load: (hero: { default: () => ReactNode }) => void = () => undefined;
  const LazyHero = lazy(() => new Promise<Parameters<typeof load>[0]>((resolve) => (load = resolve)));
  const page = await aPage(() => createElement(LazyHero));
  await act(async () =>
    load({
      default: () => {
        throw new Error('late');
      },
    }),
  );
  expect(document.body.textContent).toBe('Shop');
  expect(page.types()).toEqual(['shown', 'failed', 'hidden']);
  expect(page.place().hasAttribute('aria-busy')).toBe(false);
});

/** A server has rendered a banner for the placement. */
const drawnByServer = { ...aBootstrap(), banners: { home_hero: buildBanner() } };

test.each([
  ['of a control group', { first: buildBanner({ id: 'bnr-2', isControl: true }) }],
  ['that shouldShow() blocks', { shouldShow: () => false }],
])('removes server-rendered content for a banner %s', async (_, known) => {
  const page = await aPage(headline, { ...known, bootstrap: drawnByServer });
  expect(page.types()).toEqual(['hidden']);
  expect(document.body.textContent).toBe('Shop');
});

test('does not carry the state of a component over to the next banner', async () => {
  const Hero = ({ banner }: { banner: Banner }) => useState(banner.id)[0];
  const page = await aPage((banner) => createElement(Hero, { banner }));
  expect(document.body.textContent).toBe('Shopbnr-1');
  await page.sync(buildBanner({ id: 'bnr-2' }), true);
  expect(document.body.textContent).toBe('Shopbnr-2');
});
