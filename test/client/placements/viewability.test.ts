import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { watchViewability } from '../../../src/client/placements/viewability.ts';
import { createClock } from '../../../src/client/platform/clock.ts';

beforeEach(() => {
  vi.useFakeTimers();
  document.body.replaceChildren();
});
afterEach(() => void vi.useRealTimers());

/** An IntersectionObserver that the test controls. */
const fakeObserver = () => {
  const live = new Set<IntersectionObserverCallback>();
  const Observer = class {
    callback: IntersectionObserverCallback;
    constructor(callback: IntersectionObserverCallback) {
      this.callback = callback;
      live.add(callback);
    }
    observe(): void {
      // The tests decide when and what it reports.
    }
    disconnect(): void {
      live.delete(this.callback);
    }
  } as unknown as typeof IntersectionObserver;
  const see = (
    intersectionRatio: number,
    { width = 300, height = 250, isIntersecting = intersectionRatio > 0 } = {},
  ) => {
    const rect = new DOMRect(0, 0, width, height);
    const entry = { isIntersecting, intersectionRatio, boundingClientRect: rect, intersectionRect: rect };
    for (const callback of live) callback([entry as IntersectionObserverEntry], {} as IntersectionObserver);
  };
  return { Observer, see, live };
};

const setUp = ({ isControl = false } = {}) => {
  const element = document.createElement('div');
  document.body.append(element);
  const { Observer, see, live } = fakeObserver();
  const state = { visible: true, waiting: true, monotonic: 0, wall: 0 };
  const seen = vi.fn(() => {
    state.waiting = false;
  });
  const left = vi.fn();
  const sized = vi.fn();
  const watch = watchViewability({
    element,
    isControl: () => isControl,
    isWaiting: () => state.waiting,
    onSeen: seen,
    onLeft: left,
    onSize: sized,
    isVisible: () => state.visible,
    clock: createClock({ monotonic: () => state.monotonic, now: () => state.wall }),
    Observer,
  });
  /** Advances both clocks, and the timers with them. */
  const pass = (ms: number) => {
    state.monotonic += ms;
    state.wall += ms;
    vi.advanceTimersByTime(ms);
  };
  const show = (visible: boolean) => {
    state.visible = visible;
    watch.restart();
  };
  return { element, see, seen, left, sized, state, pass, show, watch, live };
};

test('counts a banner as seen after half of its pixels are in view for one second', () => {
  const { see, seen, pass } = setUp();
  see(0.5);
  pass(999);
  expect(seen).not.toHaveBeenCalled();
  pass(1);
  expect(seen).toHaveBeenCalledTimes(1);
});

test('does not count a banner with less than half of its pixels in view', () => {
  const { see, seen, pass } = setUp();
  see(0.49);
  pass(60_000);
  expect(seen).not.toHaveBeenCalled();
});

test('requires only 30% for a large banner (242,500 square pixels), but not for a smaller one', () => {
  const large = setUp();
  large.see(0.3, { width: 970, height: 250 });
  large.pass(1_000);
  expect(large.seen).toHaveBeenCalledTimes(1);
  const smaller = setUp();
  smaller.see(0.3, { width: 970, height: 249 });
  smaller.pass(60_000);
  expect(smaller.seen).not.toHaveBeenCalled();
});

test('requires a continuous second', () => {
  const { see, seen, pass } = setUp();
  see(0.6);
  pass(900);
  see(0.2);
  pass(100);
  see(0.6);
  pass(999);
  expect(seen).not.toHaveBeenCalled();
  pass(1);
  expect(seen).toHaveBeenCalledTimes(1);
});

test('counts a varying but sufficient share as one continuous second', () => {
  const { see, seen, pass } = setUp();
  see(0.6);
  pass(600);
  see(1);
  pass(400);
  expect(seen).toHaveBeenCalledTimes(1);
});

test('does not count a seen banner again until the slot has another banner', () => {
  const { see, seen, pass, state, watch } = setUp();
  see(1);
  pass(1_000);
  see(0);
  see(1);
  pass(10_000);
  expect(seen).toHaveBeenCalledTimes(1);
  state.waiting = true;
  watch.restart();
  pass(1_000);
  expect(seen).toHaveBeenCalledTimes(2);
});

test('case 33: does not count in a background tab, and starts the second when the tab is visible', () => {
  const { see, seen, pass, show } = setUp();
  show(false);
  see(1);
  pass(60_000);
  expect(seen).not.toHaveBeenCalled();
  show(true);
  pass(999);
  expect(seen).not.toHaveBeenCalled();
  pass(1);
  expect(seen).toHaveBeenCalledTimes(1);
});

test('restarts the second on a tab switch', () => {
  const { see, seen, pass, show } = setUp();
  see(1);
  pass(900);
  show(false);
  show(true);
  pass(900);
  expect(seen).not.toHaveBeenCalled();
  pass(100);
  expect(seen).toHaveBeenCalledTimes(1);
});

test('case 34: measures the second by timestamps even if timers run once a minute', () => {
  const { see, seen, state } = setUp();
  see(1);
  const throttledTick = () => {
    state.monotonic += 60_000;
    state.wall += 60_000;
    vi.advanceTimersToNextTimer();
  };
  throttledTick();
  expect(seen).not.toHaveBeenCalled();
  throttledTick();
  expect(seen).toHaveBeenCalledTimes(1);
});

test('does not shorten the second if a timer fires early', () => {
  const { see, seen, state } = setUp();
  see(1);
  state.monotonic = 990;
  state.wall = 990;
  vi.advanceTimersToNextTimer();
  expect(seen).not.toHaveBeenCalled();
  state.monotonic = 1_000;
  state.wall = 1_000;
  vi.advanceTimersToNextTimer();
  expect(seen).toHaveBeenCalledTimes(1);
});

const EIGHT_HOURS = 8 * 3_600_000;

test.each([
  ['stands still', 0],
  ['runs on', EIGHT_HOURS],
])('case 35: does not count eight hours of sleep if the monotonic clock %s', (_, monotonic) => {
  const { see, seen, pass, state } = setUp();
  see(1);
  pass(500);
  state.wall += EIGHT_HOURS;
  state.monotonic += monotonic;
  pass(500);
  expect(seen).not.toHaveBeenCalled();
  pass(1_000);
  expect(seen).toHaveBeenCalledTimes(1);
});

test('does not change the result if the clock is set back during the second', () => {
  const { see, seen, pass, state } = setUp();
  see(1);
  pass(500);
  state.wall -= 3_600_000;
  pass(500);
  expect(seen).toHaveBeenCalledTimes(1);
});

test('case 63: never counts a slot without pixels as seen', () => {
  const { see, seen, pass } = setUp();
  see(1, { width: 300, height: 0, isIntersecting: true });
  pass(60_000);
  see(1, { width: 0, height: 0, isIntersecting: true });
  pass(60_000);
  expect(seen).not.toHaveBeenCalled();
});

test('case 63: counts a control banner if its slot is in view, with pixels or without', () => {
  for (const height of [0, 250]) {
    const { see, seen, pass } = setUp({ isControl: true });
    see(1, { height, isIntersecting: true });
    pass(1_000);
    expect(seen).toHaveBeenCalledTimes(1);
  }
});

test('case 63: does not count a control banner out of view', () => {
  const { see, seen, pass } = setUp({ isControl: true });
  see(0, { height: 0, isIntersecting: false });
  pass(60_000);
  expect(seen).not.toHaveBeenCalled();
});

/** Covers the slot until `uncover` is called. */
const coverSlot = (element: HTMLElement) => {
  const dialog = document.createElement('dialog');
  document.body.append(dialog);
  let hits: Element[] = [dialog, element];
  const hitTest = vi.fn(() => hits);
  Object.defineProperty(document, 'elementsFromPoint', { value: hitTest, configurable: true });
  onTestFinished(() => void Reflect.deleteProperty(document, 'elementsFromPoint'));
  return {
    dialog,
    hitTest,
    uncover: () => {
      hits = [element];
    },
  };
};

test('does not count a covered banner, and counts it one second after it is uncovered without an event', () => {
  const { element, see, seen, pass } = setUp();
  const { uncover } = coverSlot(element);
  see(1);
  pass(30_000);
  expect(seen).not.toHaveBeenCalled();
  uncover();
  pass(2_000);
  expect(seen).not.toHaveBeenCalled();
  pass(1_000);
  expect(seen).toHaveBeenCalledTimes(1);
});

test.each<[string, (dialog: HTMLElement) => void]>([
  ['a scroll of any element', (dialog) => dialog.dispatchEvent(new Event('scroll'))],
  ['a resize', () => window.dispatchEvent(new Event('resize'))],
  ['a pointer', (dialog) => dialog.dispatchEvent(new Event('pointerup', { bubbles: true }))],
  ['a dialog that closes', (dialog) => dialog.dispatchEvent(new Event('close'))],
  ['a mutation of the top layer', (dialog) => dialog.remove()],
  ['a class on a child of the body', (dialog) => dialog.setAttribute('class', 'closed')],
])('checks a slot that was covered for long soon after %s', async (_, happen) => {
  const { element, see, seen, pass } = setUp();
  const { dialog, uncover } = coverSlot(element);
  see(1);
  pass(30_000);
  uncover();
  happen(dialog);
  await vi.advanceTimersByTimeAsync(0);
  pass(16);
  pass(999);
  expect(seen).not.toHaveBeenCalled();
  pass(1);
  expect(seen).toHaveBeenCalledTimes(1);
});

test('runs at most five hit tests a second for a covered slot', () => {
  const { element, see, pass } = setUp();
  const { hitTest } = coverSlot(element);
  see(1);
  pass(10_000);
  hitTest.mockClear();
  pass(60_000);
  expect(hitTest.mock.calls.length).toBeLessThanOrEqual(60 * 5);
  expect(hitTest).toHaveBeenCalled();
});

test('does not run a check per scroll event under a cover', () => {
  const { element, see, pass } = setUp();
  const { dialog, hitTest } = coverSlot(element);
  see(1);
  pass(10_000);
  hitTest.mockClear();
  for (let frame = 0; frame < 60; frame++) {
    dialog.dispatchEvent(new Event('scroll'));
    pass(16);
  }
  // 60 events, and one check has 25 hit tests.
  expect(hitTest.mock.calls.length).toBeLessThanOrEqual((25 * 60) / 8);
});

test('reports once when the element leaves the view', () => {
  const { see, left } = setUp();
  see(0.1);
  see(0.8);
  expect(left).not.toHaveBeenCalled();
  see(0);
  expect(left).toHaveBeenCalledTimes(1);
});

test('reports a slot that is out of view at the first frame as left, because it may have been in view before', () => {
  const { see, left } = setUp();
  see(0);
  expect(left).toHaveBeenCalledTimes(1);
  see(0);
  expect(left).toHaveBeenCalledTimes(1);
});

test('reports when the element is removed from the page', () => {
  const { element, see, left } = setUp();
  element.remove();
  see(0);
  expect(left).toHaveBeenCalledTimes(1);
});

test('reports when the size may have changed', () => {
  const { see, sized } = setUp();
  see(0, { height: 120 });
  see(1, { height: 90 });
  expect(sized).toHaveBeenCalledTimes(2);
});

test('leaves no observers, timers or impressions after stop', () => {
  const { see, seen, pass, watch, live } = setUp();
  see(1);
  watch.stop();
  expect(live.size).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
  pass(5_000);
  expect(seen).not.toHaveBeenCalled();
});

/** Sets whether the slot's content is still loading; resolves after the element's observers were called. */
const setBusy = async (element: HTMLElement, isBusy: boolean) => {
  const heard = new Promise<void>((resolve) => {
    new MutationObserver(() => resolve()).observe(element, { attributes: true });
  });
  if (isBusy) element.setAttribute('aria-busy', 'true');
  else element.setAttribute('aria-busy', 'false');
  vi.advanceTimersByTime(0);
  await heard;
};

test('does not count a busy slot, and starts the second when its content is ready', async () => {
  const { element, see, seen, pass } = setUp();
  await setBusy(element, true);
  see(1);
  pass(1_000);
  expect(seen).not.toHaveBeenCalled();
  await setBusy(element, false);
  pass(999);
  expect(seen).not.toHaveBeenCalled();
  pass(1);
  expect(seen).toHaveBeenCalledTimes(1);
});

test('counts a slot as seen if its busy state is set to the same value repeatedly', async () => {
  const { element, see, seen, pass } = setUp();
  see(1);
  for (let i = 0; i < 4; i += 1) {
    pass(200);
    await setBusy(element, false);
    element.setAttribute('aria-busy', 'false');
  }
  pass(200);
  expect(seen).toHaveBeenCalledTimes(1);
});

test('restarts the second if content reloads during it', async () => {
  const { element, see, seen, pass } = setUp();
  see(1);
  pass(900);
  await setBusy(element, true);
  await setBusy(element, false);
  pass(999);
  expect(seen).not.toHaveBeenCalled();
  pass(1);
  expect(seen).toHaveBeenCalledTimes(1);
});

test('counts a control banner in a busy slot as seen, because it renders nothing', async () => {
  const { element, see, seen, pass } = setUp({ isControl: true });
  await setBusy(element, true);
  see(1);
  pass(1_000);
  expect(seen).toHaveBeenCalledTimes(1);
});

test('a stopped watch ignores changes of its slot’s busy state', async () => {
  const { element, see, watch } = setUp();
  await setBusy(element, true);
  see(1);
  watch.stop();
  await setBusy(element, false);
  expect(vi.getTimerCount()).toBe(0);
});
