import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type App, createApp, defineComponent, h, nextTick, onBeforeUnmount } from 'vue';
import type { Banner, BannerBootstrap, Notice, Placard } from '../../src/client/index.ts';
import { createNotices } from '../../src/client/notices.ts';
import { createPlacements } from '../../src/client/placements/placements.ts';
import { createSlotHeights } from '../../src/client/placements/slot-heights.ts';
import { Placement, providePlacard } from '../../src/vue/index.ts';
import { buildBanner } from '../helpers/a-banner.ts';
import { aBootstrap } from '../helpers/first-html.ts';

let app: App | undefined;
beforeEach(() => {
  // In development, Vue also logs its warnings.
  vi.spyOn(console, 'warn').mockReturnValue(undefined);
});
afterEach(() => {
  app?.unmount();
  vi.restoreAllMocks();
});

const settled = async () => {
  // The error reaches the client in a promise, and comes back with a render.
  for (let turn = 0; turn < 5; turn += 1) await nextTick();
};

/** A page with one placement below a heading, with the real slots of a client. */
const aPage = async (
  draw: (banner: Banner) => unknown,
  {
    first = buildBanner(),
    bootstrap = null,
    shouldShow,
  }: { first?: Banner; bootstrap?: BannerBootstrap | null; shouldShow?: () => boolean } = {},
) => {
  const notices: Notice[] = [];
  const escaped: unknown[] = [];
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
  placements.attach({ ...createSlotHeights(() => true), ...(shouldShow && { shouldShow }) });
  const container = document.createElement('div');
  document.body.replaceChildren(container);
  app = createApp(() => [
    h('h1', 'Shop'),
    h(
      Placement,
      { placementId: 'home_hero' },
      { default: (props: { banner: Banner }) => draw(props.banner) as never },
    ),
  ]);
  app.config.errorHandler = (error) => void escaped.push(error);
  const placard = { mount: placements.mount, banner: () => banner, subscribe } as unknown as Placard;
  providePlacard(placard, app, bootstrap);
  app.mount(container);
  await settled();
  return {
    notices,
    escaped,
    container,
    sync: async (next: Banner) => {
      banner = next;
      placements.updateAll();
      await settled();
    },
    dismiss: async () => {
      banner = null;
      removalReason = 'dismissed';
      placements.updateAll();
      await settled();
    },
  };
};

const headline = ({ properties }: Banner) => h('p', String(properties['headline']?.value));
const throwing = (banner: Banner) => {
  if (banner.id === 'bnr-1') throw new Error('no headline');
  return headline(banner);
};
const Throwing = defineComponent({
  props: ['banner'],
  setup: (props) => () => throwing(props.banner as Banner),
});

test.each([
  ['itself', throwing],
  ['in a component', (banner: Banner) => h(Throwing, { banner })],
])(
  'case 68: reports a slot that throws %s, empties only its placement, and renders the next banner',
  async (_, draw) => {
    const page = await aPage(draw);
    expect(page.container.textContent).toBe('Shop');
    expect(page.notices).toMatchObject([
      { type: 'shown' },
      {
        type: 'failed',
        kind: 'hook',
        message: 'The hook of "home_hero" threw',
        cause: new Error('no headline'),
      },
      { type: 'hidden', reason: 'invalid' },
    ]);
    // The same banner is not retried.
    await page.sync(buildBanner());
    expect(page.notices).toHaveLength(3);
    await page.sync(buildBanner({ id: 'bnr-2' }));
    expect(page.container.textContent).toBe('ShopSummer sale');
    expect(page.escaped).toEqual([]);
  },
);

test('case 68: reports an error while the banner is removed, and keeps the page', async () => {
  const Stumbling = defineComponent(() => {
    onBeforeUnmount(() => {
      throw new Error('already destroyed');
    });
    return () => 'Hero';
  });
  const page = await aPage(() => h(Stumbling));
  expect(page.container.textContent).toBe('ShopHero');
  await page.dismiss();
  expect(page.container.textContent).toBe('Shop');
  expect(page.notices).toContainEqual(
    expect.objectContaining({ type: 'failed', cause: new Error('already destroyed') }),
  );
  expect(page.escaped).toEqual([]);
});

test('does not catch an error in the page’s own listener, and keeps the banner', async () => {
  const page = await aPage((banner) =>
    h(
      'button',
      {
        onClick: () => {
          throw new Error('in the shop');
        },
      },
      banner.id,
    ),
  );
  page.container.querySelector('button')!.click();
  await settled();
  expect(page.container.textContent).toBe('Shopbnr-1');
  expect(page.escaped).toEqual([new Error('in the shop')]);
  expect(page.notices.map(({ type }) => type)).toEqual(['shown']);
});

/** A server has rendered a banner for the placement. */
const drawnByServer = { ...aBootstrap(), banners: { home_hero: buildBanner() } };

test.each([
  ['of a control group', { first: buildBanner({ id: 'bnr-2', isControl: true }) }],
  ['that shouldShow() blocks', { shouldShow: () => false }],
])('removes server-rendered content for a banner %s', async (_, known) => {
  const { notices, container } = await aPage(headline, { ...known, bootstrap: drawnByServer });
  expect(notices.map(({ type }) => type)).toEqual(['hidden']);
  expect(container.textContent).toBe('Shop');
});
