import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Banner, PlacementHook, Slot } from '../../../src/client/index.ts';
import type { Placements } from '../../../src/client/placements/placements.ts';
import { createSlotHeights, storeHeight } from '../../../src/client/placements/slot-heights.ts';
import { createSlotSizes } from '../../../src/client/placements/slot-sizes.ts';
import { buildBanner } from '../../helpers/a-banner.ts';
import { aSlot, drawHeadline, setUp, withHeadline } from './arrange-placements.ts';

beforeEach(() => {
  vi.useFakeTimers();
  document.body.replaceChildren();
  localStorage.clear();
});
afterEach(() => void vi.useRealTimers());

test('renders a banner as soon as it is available, and reports its source', () => {
  const { placements, answer, notices } = setUp();
  const { element } = aSlot();
  placements.mount('home_hero', element, drawHeadline);
  expect(element.textContent).toBe('');
  expect(notices).toEqual([]);
  answer(buildBanner());
  expect(element.textContent).toBe('Summer sale');
  expect(notices).toEqual([{ type: 'shown', banner: buildBanner(), from: 'sync' }]);
});

test('renders a cached banner during the mount', () => {
  const { placements, answer } = setUp();
  answer(buildBanner());
  const { element } = aSlot();
  placements.mount('home_hero', element, drawHeadline);
  expect(element.textContent).toBe('Summer sale');
});

test('does not render again for the same response', () => {
  const { placements, answer, types } = setUp();
  const hook = vi.fn(drawHeadline);
  placements.mount('home_hero', aSlot().element, hook);
  answer(buildBanner());
  answer(buildBanner());
  expect(hook).toHaveBeenCalledTimes(1);
  expect(types()).toEqual(['shown']);
});

test('an unmount removes the banner, aborts the signal and runs the cleanup once', () => {
  const { placements, answer } = setUp();
  const { element } = aSlot();
  const cleanup = vi.fn();
  let signal: AbortSignal | undefined;
  const unmount = placements.mount('home_hero', element, (_, slot) => {
    ({ signal } = slot);
    return cleanup;
  });
  answer(buildBanner());
  expect(signal?.aborted).toBe(false);
  unmount();
  unmount();
  expect(cleanup).toHaveBeenCalledTimes(1);
  expect(signal?.aborted).toBe(true);
  answer(buildBanner({ id: 'bnr-2' }));
  expect(cleanup).toHaveBeenCalledTimes(1);
});

test.each([
  ['no banner is left', () => undefined],
  ['its banner was removed', (placements: Placements) => placements.hide(buildBanner())],
])('an unmount in a notice that %s restores the element', (_, before) => {
  const { placements, answer } = setUp(({ type }) => type === 'hidden' && unmount());
  const { element, scrollTo } = aSlot();
  const unmount = placements.mount('home_hero', element, drawHeadline);
  answer(buildBanner());
  scrollTo(true);
  before(placements);
  scrollTo(false);
  answer(null);
  expect(element.getAttribute('style') ?? '').toBe('');
});

test('does not render the next banner after an unmount in a notice', () => {
  const { placements, answer, state, types } = setUp(({ type }) => type === 'hidden' && unmount());
  const { element } = aSlot();
  const unmount = placements.mount('home_hero', element, drawHeadline);
  answer(buildBanner());
  state.removalReason = 'dismissed';
  answer(buildBanner({ id: 'bnr-2' }));
  expect(element.textContent).toBe('');
  expect(types()).toEqual(['shown', 'hidden dismissed']);
});

test.each([
  ['another banner', buildBanner({ id: 'bnr-2' })],
  ['none', null],
])('an unmount in the cleanup of the hook is final, if %s follows', (_, next) => {
  const { placements, answer, types } = setUp();
  const { element } = aSlot();
  const empty = vi.fn();
  const hook: PlacementHook = (_banner, slot) => {
    slot.element.textContent = 'drawn';
    return () => {
      slot.element.textContent = '';
      unmount();
    };
  };
  const unmount = placements.mount('home_hero', element, Object.assign(hook, { renderEmpty: empty }));
  answer(buildBanner());
  answer(next);
  expect(element.outerHTML).toBe('<div></div>');
  expect(empty).not.toHaveBeenCalled();
  expect(types()).toEqual(['shown']);
});

test.each(['banner', 'empty'] as const)(
  'removes the nodes that a hook renders after it unmounted itself: its %s',
  (what) => {
    const { placements, answer, types } = setUp();
    const { element } = aSlot();
    const drawLate = () => {
      unmount();
      element.append('too late');
    };
    const unmount = placements.mount(
      'home_hero',
      element,
      Object.assign(() => drawLate(), { renderEmpty: drawLate }),
    );
    answer(what === 'banner' ? buildBanner() : null);
    expect(element.outerHTML).toBe('<div></div>');
    expect(types()).not.toContain('shown');
  },
);

test('removes the nodes that a hook without a cleanup added, and keeps the host’s nodes', () => {
  const { placements, answer } = setUp();
  const { element } = aSlot();
  element.innerHTML = '<p>of the host</p>';
  const unmount = placements.mount('home_hero', element, (_, slot) => {
    slot.element.append(document.createElement('hr'), 'text');
  });
  answer(buildBanner());
  expect(element.childNodes).toHaveLength(3);
  unmount();
  expect(element.innerHTML).toBe('<p>of the host</p>');
});

test('case 60: does not replace a banner in view, and shows the next one once it is out of view', () => {
  const { placements, answer, types } = setUp();
  const { element, scrollTo } = aSlot();
  scrollTo(true);
  placements.mount('home_hero', element, drawHeadline);
  answer(withHeadline('First'));
  answer(withHeadline('Second', { id: 'bnr-2' }));
  expect(element.textContent).toBe('First');
  scrollTo(false);
  placements.updateAll();
  expect(element.textContent).toBe('Second');
  expect(types()).toEqual(['shown', 'shown']);
});

test('case 60: neither changes nor removes a banner in view', () => {
  const { placements, answer } = setUp();
  const { element, scrollTo } = aSlot();
  scrollTo(true);
  placements.mount('home_hero', element, drawHeadline);
  answer(withHeadline('First'));
  answer(withHeadline('First, edited'));
  expect(element.textContent).toBe('First');
  answer(null);
  expect(element.textContent).toBe('First');
  scrollTo(false);
  placements.updateAll();
  expect(element.textContent).toBe('');
});

test('case 60: treats a hidden page, even if only the host hides it, as out of view', () => {
  const { placements, answer, state } = setUp();
  const { element, scrollTo } = aSlot();
  scrollTo(true);
  placements.mount('home_hero', element, drawHeadline);
  answer(withHeadline('First'));
  state.isVisible = false;
  answer(withHeadline('Second', { id: 'bnr-2' }));
  expect(element.textContent).toBe('Second');
});

test.each(['user', 'expired', 'dismissed'] as const)(
  'removes a banner that must not be shown (%s) at once even in view, and keeps its box until it is out of view',
  (reason) => {
    const { placements, answer, state, types } = setUp();
    const { element, scrollTo } = aSlot({ height: 120 });
    scrollTo(true);
    placements.mount('home_hero', element, drawHeadline);
    answer(buildBanner());
    state.removalReason = reason;
    answer(null);
    expect(element.textContent).toBe('');
    expect(types()).toEqual(['shown', `hidden ${reason}`]);
    expect(element.style.minHeight).toBe('120px');
    scrollTo(false);
    placements.updateAll();
    expect(element.style.height).toBe('0px');
  },
);

test('treats a slot as in view before the deferred chunk loads, so its banner and box stay', () => {
  const { placements, answer, state, attach } = setUp(undefined, { isWatched: false });
  const { element } = aSlot({ height: 120 });
  placements.mount('home_hero', element, drawHeadline);
  answer(withHeadline('First'));
  answer(withHeadline('Second', { id: 'bnr-2' }));
  expect(element.textContent).toBe('First');
  state.removalReason = 'user';
  answer(null);
  expect([element.textContent, element.style.minHeight]).toEqual(['', '120px']);
  attach();
  expect(element.style.height).toBe('0px');
});

test('case 54: removes a banner that expires while displayed, and notifies the deferred chunk', () => {
  const { placements, answer, answers, state, types } = setUp();
  const onExpired = vi.fn();
  placements.attach({ ...createSlotHeights(() => true), onExpired });
  const { element } = aSlot();
  placements.mount('home_hero', element, drawHeadline);
  state.expiresInMs = 60_000;
  answer(buildBanner());
  vi.advanceTimersByTime(60_000);
  expect(element.textContent).toBe('Summer sale');
  state.removalReason = 'expired';
  answers.set('home_hero', null);
  vi.advanceTimersByTime(1);
  expect(element.textContent).toBe('');
  expect(types()).toEqual(['shown', 'hidden expired']);
  expect(onExpired.mock.calls).toEqual([['home_hero']]);
});

test('does not overflow the timer for a banner that expires in years', () => {
  const { placements, answer, state } = setUp();
  const hook = vi.fn(drawHeadline);
  placements.mount('home_hero', aSlot().element, hook);
  state.expiresInMs = 10 ** 12;
  answer(buildBanner());
  vi.advanceTimersByTime(10_000);
  expect(hook).toHaveBeenCalledTimes(1);
  expect(vi.getTimerCount()).toBe(1);
});

test('case 57: keeps the box of an empty placement in view and collapses it out of view', () => {
  const { placements, answer, types } = setUp();
  const { element, scrollTo } = aSlot();
  scrollTo(true);
  placements.mount('home_hero', element, drawHeadline);
  answer(null);
  expect(types()).toEqual(['hidden none']);
  expect(element.style.height).toBe('');
  scrollTo(false);
  placements.updateAll();
  expect(element.style.getPropertyValue('height')).toBe('0px');
  expect(element.style.getPropertyPriority('height')).toBe('important');
});

test('case 57: does not collapse a placement before the first response, so a failed sync causes no layout shift', () => {
  const { placements } = setUp();
  const { element } = aSlot();
  placements.mount('home_hero', element, drawHeadline);
  placements.updateAll();
  expect(element.getAttribute('style') ?? '').toBe('');
});

test('opens a collapsed placement only out of view', () => {
  const { placements, answer } = setUp();
  const { element, scrollTo } = aSlot();
  element.style.height = '90px';
  placements.mount('home_hero', element, drawHeadline);
  answer(null);
  scrollTo(true);
  answer(buildBanner());
  expect(element.textContent).toBe('');
  scrollTo(false);
  placements.updateAll();
  expect(element.textContent).toBe('Summer sale');
  expect(element.style.height).toBe('90px');
});

test('restores the page’s styles on unmount', () => {
  const { placements, answer } = setUp();
  const { element } = aSlot();
  element.style.margin = '8px';
  const unmount = placements.mount('home_hero', element, drawHeadline);
  answer(null);
  expect(element.style.margin).toBe('0px');
  unmount();
  expect(element.style.margin).toBe('8px');
  expect(element.style.height).toBe('');
});

test('reserves the height of the last visit before the first response', () => {
  storeHeight(createSlotSizes('app'), 'home_hero', aSlot({ height: 240 }).element);
  const { placements } = setUp();
  const { element } = aSlot({ height: 0 });
  placements.mount('home_hero', element, drawHeadline);
  expect(element.style.minHeight).toBe('240px');
});

test('a control banner is not rendered, collapses out of view, and counts as shown', () => {
  const { placements, answer, types } = setUp();
  const { element } = aSlot();
  const hook = vi.fn(drawHeadline);
  const watched: (string | undefined)[] = [];
  placements.attach({
    ...createSlotHeights(() => true),
    onChange: ({ state }) => watched.push(state.banner?.id),
  });
  placements.mount('home_hero', element, hook);
  answer(buildBanner({ isControl: true }));
  expect(hook).not.toHaveBeenCalled();
  expect(types()).toEqual(['hidden control']);
  expect(watched.at(-1)).toBe('bnr-1');
  expect(element.style.height).toBe('0px');
});

test('renders the `empty` of the hook if there is no banner, and keeps the placement open', () => {
  const { placements, answer } = setUp();
  const { element } = aSlot();
  const hook = Object.assign((banner: Banner, slot: Slot) => slot.element.append(banner.id), {
    renderEmpty: ({ element: place }: { element: HTMLElement }) => place.append('nothing today'),
  });
  placements.mount('home_hero', element, hook);
  answer(null);
  expect(element.textContent).toBe('nothing today');
  expect(element.style.height).toBe('');
  answer(buildBanner());
  expect(element.textContent).toBe('bnr-1');
  answer(null);
  expect(element.textContent).toBe('nothing today');
});

test('removes a dismissed banner and its box from every slot of its placement at once', () => {
  const { placements, answer, types } = setUp();
  const slots = [aSlot(), aSlot()];
  for (const { element, scrollTo } of slots) {
    scrollTo(true);
    placements.mount('home_hero', element, drawHeadline);
  }
  answer(buildBanner());
  placements.hide(buildBanner());
  for (const { element } of slots) {
    expect(element.textContent).toBe('');
    expect(element.style.height).toBe('0px');
  }
  expect(types()).toEqual(['shown', 'shown', 'hidden dismissed', 'hidden dismissed']);
});

test('a hook that dismisses its banner during render leaves no nodes behind', () => {
  const { placements, answer, types } = setUp();
  const { element } = aSlot();
  placements.mount('home_hero', element, (banner, slot) => {
    placements.hide(banner);
    slot.element.append('too late');
  });
  answer(buildBanner());
  expect(element.textContent).toBe('');
  expect(types()).toEqual(['hidden dismissed']);
});

test('applies the slot’s methods to its banner', async () => {
  const { placements, answer, track } = setUp();
  let slot: Slot | undefined;
  placements.mount('home_hero', aSlot().element, (_, given) => {
    slot = given;
  });
  answer(buildBanner());
  await slot?.click();
  await slot?.dismiss();
  expect(track.mock.calls).toEqual([
    [buildBanner(), 'click', { buttonId: undefined }],
    [buildBanner(), 'dismiss'],
  ]);
});

test('case 66: reports a rejected URL with its banner, placement and use', () => {
  const { placements, answer, notices } = setUp();
  placements.mount('home_hero', aSlot().element, (_, slot) => {
    expect(slot.safeUrl('javascript:alert(1)', 'link')).toBeNull();
    expect(slot.safeUrl('https://example.com/a.png', 'image')).toBe('https://example.com/a.png');
  });
  answer(buildBanner());
  expect(notices[0]).toEqual({
    type: 'failed',
    kind: 'url',
    message: 'A link URL of banner "bnr-1" in "home_hero" has no allowed scheme',
    cause: 'javascript:alert(1)',
  });
});

test('case 65: keeps the banner of a moved slot without rendering it again', () => {
  const { placements, answer } = setUp();
  const { element } = aSlot();
  const hook = vi.fn(drawHeadline);
  placements.mount('home_hero', element, hook);
  answer(buildBanner());
  const elsewhere = document.createElement('aside');
  document.body.append(elsewhere);
  elsewhere.append(element);
  placements.updateAll();
  expect(hook).toHaveBeenCalledTimes(1);
  expect(element.textContent).toBe('Summer sale');
});

test('case 65: keeps the banner of a slot that moves while another is mounted, and unmounts a removed slot', async () => {
  const { placements, answer } = setUp();
  const [moved, gone] = [aSlot(), aSlot()];
  const hook = vi.fn(drawHeadline);
  for (const { element } of [moved, gone]) placements.mount('home_hero', element, hook);
  answer(buildBanner());
  moved.element.remove();
  gone.element.remove();
  placements.mount('sidebar', aSlot().element, hook);
  document.body.append(moved.element);
  await Promise.resolve();
  expect(moved.element.textContent).toBe('Summer sale');
  expect(gone.element.textContent).toBe('');
  answer(withHeadline('Winter sale', { id: 'bnr-2' }));
  expect(moved.element.textContent).toBe('Winter sale');
  expect(hook).toHaveBeenCalledTimes(3);
});

test('empties a slot removed without an unmount at the next check, and unmounts it once many others follow', () => {
  const { placements, answer } = setUp();
  const { element } = aSlot();
  const cleanup = vi.fn();
  const unwatch = vi.fn();
  placements.attach({ ...createSlotHeights(() => true), watch: () => unwatch });
  placements.mount('home_hero', element, () => cleanup);
  answer(buildBanner());
  element.remove();
  placements.updateAll();
  expect(cleanup).toHaveBeenCalledTimes(1);
  expect(unwatch).not.toHaveBeenCalled();
  for (let i = 0; i < 20; i += 1) {
    const { element: other } = aSlot();
    placements.mount('home_hero', other, () => undefined);
    other.remove();
  }
  placements.updateAll();
  expect(cleanup).toHaveBeenCalledTimes(1);
  expect(unwatch).toHaveBeenCalledTimes(1);
});

test('mounts a slot before it is inserted into the page', () => {
  const { placements, answer } = setUp();
  const { element } = aSlot();
  element.remove();
  placements.mount('home_hero', element, drawHeadline);
  answer(buildBanner());
  document.body.append(element);
  placements.updateAll();
  expect(element.textContent).toBe('Summer sale');
});

test('1,000 slots mounted and removed leave no timers, and at most twenty watches', () => {
  const { placements, answer, state } = setUp();
  let watches = 0;
  placements.attach({
    ...createSlotHeights(() => true),
    watch() {
      watches++;
      return () => void watches--;
    },
  });
  state.expiresInMs = 60_000;
  answer(buildBanner());
  for (let i = 0; i < 1_000; i++) {
    const { element } = aSlot();
    const unmount = placements.mount(
      'home_hero',
      element,
      i % 2 ? drawHeadline : () => new Promise(() => undefined) as never,
    );
    if (i % 3) unmount();
    element.remove();
  }
  placements.updateAll();
  expect([watches, vi.getTimerCount()]).toEqual([20, 0]);
});
