// Placements that the client inserts by itself. Layout tests are in test/e2e/insert-placements.test.ts.
import { beforeEach, expect, test, vi } from 'vitest';
import { selectors } from '../../../src/client/index.ts';
import { PLACEMENTS_PATH, type SelectorPlacement } from '../../../src/protocol/index.ts';
import { createFakeService, buildBanner as wire } from '../../../src/testing/index.ts';
import { aProfile, draw, open, PATIENCE, stagePages } from '../pages.ts';

stagePages();
beforeEach(() => {
  document.body.innerHTML = '<main><h1>Shop</h1><p>Text</p></main>';
  history.replaceState(null, '', '/products/1');
});

const place = (changes: Partial<SelectorPlacement> = {}): SelectorPlacement => ({
  placement_id: 'home_hero',
  selector: 'h1',
  insert: 'after',
  paths: ['*'],
  template: 'card',
  height_px: 344,
  ...changes,
});

/** A page that allows inserting these placements; `lists` are the bodies of the requests for them. */
const aPage = (
  list: SelectorPlacement[],
  more: Parameters<typeof open>[0] & {
    isControl?: boolean;
    isAllowed?: boolean;
    answering?: Promise<void>;
  } = {},
) => {
  const banner = wire(
    'home_hero',
    { headline: 'Sale' },
    { id: 'bnr-1', is_control: more.isControl ?? false },
  );
  const service = more.service ?? createFakeService({ banners: { home_hero: banner } });
  const lists: unknown[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    if (!request.url.endsWith(PLACEMENTS_PATH)) return service.fetch(request);
    lists.push(await request.json());
    await more.answering;
    return Response.json({ placements: list });
  };
  const page = open({
    ...(more.isAllowed !== false && { use: [selectors({ card: draw })] }),
    ...more,
    service,
    platform: { fetch },
  });
  return { ...page, lists };
};

const boxes = () => [...document.querySelectorAll<HTMLElement>('[data-placard-placement]')];
const heights = () => boxes().map((box) => box.querySelector('div')?.style.height);
const becomes = (count: number) => vi.waitFor(() => expect(boxes()).toHaveLength(count), PATIENCE);
const failures = ({ of }: ReturnType<typeof aPage>) =>
  of('failed').flatMap(({ kind, message }) => (kind === 'config' ? [message] : []));
const goTo = (path: string, html = '') => {
  history.pushState(null, '', path);
  // A router draws another page.
  document.querySelector('p')!.innerHTML = html;
};

test.each([
  ['before', 'DIV H1 P'],
  ['after', 'H1 DIV P'],
] as const)(
  '%s an element: inserts the banner there, in a box with the height from the file',
  async (insert, order) => {
    const page = aPage([place({ insert })]);
    await becomes(1);
    expect([...document.querySelector('main')!.children].map(({ tagName }) => tagName).join(' ')).toBe(order);
    expect(heights()).toEqual(['344px']);
    await page.heard('tracked');
    expect(boxes()[0]!.textContent).toBe('Sale');
  },
);

test.each([
  ['prepend', 'DIV H1 P'],
  ['append', 'H1 P DIV'],
] as const)('%s inside an element: inserts the banner there', async (insert, order) => {
  aPage([place({ insert, selector: 'main' })]);
  await becomes(1);
  expect([...document.querySelector('main')!.children].map(({ tagName }) => tagName).join(' ')).toBe(order);
});

test('keeps the height of a box, regardless of the stored height of the last visit', async () => {
  // Without a layout, every element has a width of 0, hence `@0` in the key.
  localStorage.setItem('placard-heights:app', JSON.stringify({ 'home_hero@0': 500 }));
  const page = aPage([place()]);
  await page.heard('shown');
  expect(boxes()[0]!.querySelector('div')!.style.minHeight).toBe('');
});

test('does not request a list without the option, and requests it once in five minutes with the option', async () => {
  const without = aPage([place()], { isAllowed: false });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(without.lists).toEqual([]);
  without.placard.stop();

  const openStore = aProfile();
  const first = aPage([place()], { openStore });
  await becomes(1);
  first.placard.stop();
  expect(boxes()).toEqual([]);
  const second = aPage([], { openStore });
  await becomes(1);
  expect([first.lists.length, second.lists.length]).toEqual([1, 0]);
  second.placard.stop();
  vi.setSystemTime(Date.now() + 300_000);
  const third = aPage([], { openStore });
  await vi.waitFor(() => expect(third.lists).toHaveLength(1), PATIENCE);
  // The list no longer contains a placement.
  await becomes(0);
});

test('does not insert a box for a user without a banner, and counts a box without a height for a control user', async () => {
  const nothing = aPage([place()], { service: createFakeService({ banners: { home_hero: null } }) });
  await nothing.heard('synced');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(boxes()).toEqual([]);
  nothing.placard.stop();
  const control = aPage([place()], { isControl: true });
  await control.heard('tracked');
  expect([heights(), boxes()[0]!.textContent]).toEqual([['0px'], '']);
});

test.each([
  ['/products/1', ['/products/*'], true],
  ['/products/', ['/products/*'], true],
  ['/products', ['/products/*'], false],
  ['/shop/products/1', ['/products/*'], false],
  ['/shop/products/1', ['*/products/*'], true],
  ['/a', ['/a*a'], false],
  ['/aba', ['/a*a'], true],
  ['/de/p/1/print', ['/de/*', '/en'], true],
  ['/de/p/1/print', ['/*/p/*/print'], true],
  ['/de/p/1/printed', ['/*/p/*/print'], false],
  ['/en', ['/en'], true],
  ['/en/', ['/en'], false],
])('%s matches %j: %s', async (path, paths, isHere) => {
  history.replaceState(null, '', path);
  aPage([place({ paths }), place({ placement_id: 'home_hero', selector: 'main', insert: 'append' })]);
  await vi.waitFor(() => expect(boxes().length).toBeGreaterThan(0), PATIENCE);
  expect(boxes()).toHaveLength(isHere ? 2 : 1);
});

test('removes the box on a route outside its paths, and inserts it again on back', async () => {
  const page = aPage([place({ paths: ['/products/*'] })]);
  await becomes(1);
  goTo('/cart');
  await becomes(0);
  goTo('/products/2');
  await becomes(1);
  await page.heard('shown', 2);
});

test('inserts a box at an element rendered late, without a notice', async () => {
  const page = aPage([place({ selector: '.late' })]);
  await page.heard('synced');
  await vi.advanceTimersByTimeAsync(2_000);
  document.querySelector('main')!.insertAdjacentHTML('beforeend', '<p class="late"></p>');
  await becomes(1);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(failures(page)).toEqual([]);
});

test('emits a notice on each page for a selector without a match, and reports it with the next request', async () => {
  const openStore = aProfile();
  const page = aPage([place({ selector: '.gone' })], { openStore });
  await vi.waitFor(() => expect(failures(page)).toHaveLength(1), PATIENCE);
  expect(failures(page)[0]).toBe(
    'Placement "home_hero" at ".gone" of /products/1: its selector has no match',
  );
  goTo('/products/2');
  await vi.waitFor(() => expect(failures(page)).toHaveLength(2), PATIENCE);
  page.placard.stop();
  vi.setSystemTime(Date.now() + 300_000);
  const next = aPage([], { openStore });
  await vi.waitFor(() => expect(next.lists).toEqual([{ missing: ['home_hero'] }]), PATIENCE);
});

test.each([
  ['two elements', place({ selector: 'h1, p' }), /2 matches, the first is used/, 1],
  ['no selector', place({ selector: 'h1:no-such(' }), /selector/i, 0],
  ['a template that the page does not have', place({ template: 'hero' }), /selectors\(\) has no "hero"/, 0],
  ['a template of every object', place({ template: 'toString' }), /selectors\(\) has no "toString"/, 0],
])('%s: emits one notice, and the page continues', async (_, list, message, count) => {
  const page = aPage([list, place({ selector: 'main', insert: 'append' })]);
  await vi.waitFor(() => expect(boxes()).toHaveLength(count + 1), PATIENCE);
  document.querySelector('p')!.append('more');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(failures(page)).toEqual([expect.stringMatching(message)]);
});

test('reinserts a box that the page removes up to three times, and again on the next page', async () => {
  const page = aPage([place()]);
  for (let times = 0; times < 4; times += 1) {
    await becomes(1);
    boxes()[0]!.remove();
  }
  await vi.waitFor(
    () => expect(failures(page)).toEqual([expect.stringMatching(/keeps removing it/)]),
    PATIENCE,
  );
  expect(boxes()).toEqual([]);
  goTo('/products/2');
  await becomes(1);
});

test('keeps its box on a page that is detached and reattached, as with KeepAlive', async () => {
  const page = aPage([place()]);
  await becomes(1);
  const kept = document.querySelector('main')!;
  const [box] = boxes();
  for (let times = 0; times < 5; times += 1) {
    kept.remove();
    // The first time, it is removed while the client reports selectors that have no match so far.
    await vi.advanceTimersByTimeAsync(times === 0 ? 6_000 : 500);
    document.body.append(kept);
    await vi.advanceTimersByTimeAsync(500);
    expect(boxes()).toEqual([box]);
  }
  expect(failures(page)).toEqual([]);
});

test('does not send requests without consent or a user', async () => {
  const off = aPage([place()], { consent: 'disabled' });
  const nobody = aPage([place()], { userId: null });
  await vi.advanceTimersByTimeAsync(5_000);
  expect([...off.lists, ...nobody.lists]).toEqual([]);
  await off.placard.enable();
  await becomes(1);
});

test('an opt-out empties the box and removes the list', async () => {
  const openStore = aProfile();
  const page = aPage([place()], { openStore });
  await becomes(1);
  await page.placard.disable();
  expect(boxes()[0]!.textContent).toBe('');
  expect(await openStore('placard-banners').entries()).toEqual([]);
});

test('emits a notice if the list cannot be loaded, and does not throw into the page', async () => {
  const service = createFakeService();
  const page = open({
    use: [selectors({ card: draw })],
    service,
    platform: {
      async fetch(input, init) {
        const request = new Request(input, init);
        return request.url.endsWith(PLACEMENTS_PATH)
          ? Response.json({}, { status: 404 })
          : service.fetch(request);
      },
    },
  });
  await vi.waitFor(
    () =>
      expect(page.of('failed').map(({ message }) => message)).toEqual([
        'Placements by selector failed to load: Error: HTTP 404',
      ]),
    PATIENCE,
  );
});

test('does not insert boxes from a list that arrives after stop', async () => {
  const answer = Promise.withResolvers<void>();
  const { placard, lists } = aPage([place()], { answering: answer.promise });
  await vi.waitFor(() => expect(lists).toHaveLength(1), PATIENCE);
  placard.stop();
  const timers = vi.spyOn(globalThis, 'setTimeout');
  answer.resolve();
  await vi.advanceTimersByTimeAsync(0);
  expect(timers).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(boxes()).toHaveLength(0);
});

test('loads its list in a browser without AbortSignal.timeout, such as Chrome before 103', async () => {
  vi.stubGlobal('AbortSignal', Object.assign(Object.create(AbortSignal), { timeout: undefined }));
  aPage([place()]);
  await becomes(1);
  vi.unstubAllGlobals();
});

test('leaves no timers after stop', async () => {
  const page = aPage([place({ selector: '.gone' })]);
  await page.heard('synced');
  page.placard.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(failures(page)).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});
