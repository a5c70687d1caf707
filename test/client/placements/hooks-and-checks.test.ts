import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Banner, PlacementHook, Slot } from '../../../src/client/index.ts';
import { createSlotHeights } from '../../../src/client/placements/slot-heights.ts';
import { buildBanner } from '../../helpers/a-banner.ts';
import { foreignPromise } from '../../helpers/foreign-promise.ts';
import { aSlot, drawHeadline, setUp } from './arrange-placements.ts';

beforeEach(() => {
  vi.useFakeTimers();
  document.body.replaceChildren();
  localStorage.clear();
});
afterEach(() => void vi.useRealTimers());

test('case 68: a hook that throws leaves an empty placement, is reported once, and is not called again', () => {
  const { placements, answer, notices, types } = setUp();
  const { element } = aSlot();
  const cause = new Error('no template');
  const hook = vi.fn((_: Banner, slot: Slot) => {
    slot.element.append('half');
    throw cause;
  });
  placements.mount('home_hero', element, hook);
  answer(buildBanner());
  placements.updateAll();
  answer(buildBanner());
  expect(element.textContent).toBe('');
  expect(hook).toHaveBeenCalledTimes(1);
  expect(types()).toEqual(['failed', 'hidden invalid']);
  expect(notices[0]).toEqual({
    type: 'failed',
    kind: 'hook',
    message: 'The hook of "home_hero" threw',
    cause,
  });
  answer(buildBanner({ id: 'bnr-2' }));
  expect(hook).toHaveBeenCalledTimes(2);
});

test('case 68: does not count events after a hook that throws', () => {
  const { placements, answer } = setUp();
  const shown: (Banner | null)[] = [];
  placements.attach({
    ...createSlotHeights(() => true),
    onChange: (mounted) => shown.push(mounted.state.banner),
  });
  placements.mount('home_hero', aSlot().element, () => {
    throw new Error('no');
  });
  answer(buildBanner());
  expect(shown.at(-1)).toBeNull();
});

test('case 68: treats an async hook that rejects like one that throws', async () => {
  const { placements, answer, types } = setUp();
  const { element } = aSlot();
  placements.mount('home_hero', element, (async (_: Banner, slot: Slot) => {
    slot.element.append('half');
    throw new Error('late');
  }) as unknown as PlacementHook);
  answer(buildBanner());
  await vi.advanceTimersByTimeAsync(0);
  expect(element.textContent).toBe('');
  expect(types()).toEqual(['shown', 'failed', 'hidden invalid']);
});

test('case 68: treats a rejected promise of another library, as with zone.js, like an exception', async () => {
  const { placements, answer, types } = setUp();
  const { element } = aSlot();
  const hook = (_: Banner, slot: Slot) => {
    slot.element.append('half');
    return foreignPromise(Promise.reject(new Error('late')));
  };
  placements.mount('home_hero', element, hook as unknown as PlacementHook);
  answer(buildBanner());
  await vi.advanceTimersByTimeAsync(0);
  expect(element.textContent).toBe('');
  expect(types()).toEqual(['shown', 'failed', 'hidden invalid']);
});

test('abandons a hook that never settles: aborts the signal and removes its nodes', () => {
  const { placements, answer } = setUp();
  const { element } = aSlot();
  let signal: AbortSignal | undefined;
  const unmount = placements.mount('home_hero', element, ((_: Banner, slot: Slot) => {
    ({ signal } = slot);
    slot.element.append('loading');
    return new Promise(() => undefined);
  }) as unknown as PlacementHook);
  answer(buildBanner());
  unmount();
  expect(element.textContent).toBe('');
  expect(signal?.aborted).toBe(true);
});

test('reports a cleanup that throws and renders the next banner', () => {
  const { placements, answer, types } = setUp();
  const { element } = aSlot();
  placements.mount('home_hero', element, (banner, slot) => {
    slot.element.textContent = banner.id;
    return () => {
      throw new Error('no');
    };
  });
  answer(buildBanner());
  answer(buildBanner({ id: 'bnr-2' }));
  expect(element.textContent).toBe('bnr-2');
  expect(types()).toEqual(['shown', 'failed', 'shown']);
});

test('reports an async cleanup that rejects, without an unhandled rejection', async () => {
  const { placements, answer, types } = setUp();
  placements.mount('home_hero', aSlot().element, (() => async () => {
    throw new Error('late');
  }) as unknown as PlacementHook);
  answer(buildBanner());
  answer(null);
  await vi.advanceTimersByTimeAsync(0);
  expect(types()).toEqual(['shown', 'hidden none', 'failed']);
});

test.each([
  ['at once', () => undefined],
  ['later', async () => undefined],
])('treats a check that returns undefined, %s, like one that throws', async (_, check) => {
  const { placements, answer, types } = setUp();
  const { element } = aSlot();
  placements.mount(
    'home_hero',
    element,
    Object.assign(drawHeadline.bind(null), { validate: check as never }),
  );
  answer(buildBanner());
  await vi.advanceTimersByTimeAsync(0);
  expect(element.textContent).toBe('');
  expect(types()).toEqual(['failed', 'hidden invalid']);
});

test.each([
  ['finds a problem', async () => [{ message: 'no headline' }], ['failed', 'hidden invalid']],
  ['finds none', async () => [], ['shown']],
  ['rejects', () => Promise.reject(new Error('broken')), ['failed', 'hidden invalid']],
])('waits for a check whose promise is from another library, and %s', async (_, find, expected) => {
  const { placements, answer, types } = setUp();
  const check = () => foreignPromise<{ message: string }[]>(find());
  placements.mount('home_hero', aSlot().element, Object.assign(drawHeadline.bind(null), { validate: check }));
  answer(buildBanner());
  expect(types()).toEqual([]);
  await vi.advanceTimersByTimeAsync(0);
  expect(types()).toEqual(expected);
});

test.each([false, 0, ''])('treats %j from a JavaScript check as no issues', (found) => {
  const { placements, answer, types } = setUp();
  const check = (() => found) as unknown as () => [];
  placements.mount('home_hero', aSlot().element, Object.assign(drawHeadline.bind(null), { validate: check }));
  answer(buildBanner());
  expect(types()).toEqual(['shown']);
});
