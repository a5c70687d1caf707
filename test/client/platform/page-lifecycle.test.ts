import { expect, test } from 'vitest';
import { createPageLifecycle, type LifecycleEvent } from '../../../src/client/platform/page.ts';

const MOMENTS: LifecycleEvent[] = [
  'visible',
  'hidden',
  'pagehide',
  'restored',
  'resumed',
  'activated',
  'online',
];

/** A document whose state the test sets, with a count of its listeners. */
const setUp = () => {
  const counted = <T extends EventTarget>(target: T, counts: Map<string, number>): T => {
    const add = target.addEventListener.bind(target);
    target.addEventListener = (type: string, listener: never, options?: AddEventListenerOptions) => {
      counts.set(type, (counts.get(type) ?? 0) + 1);
      options?.signal?.addEventListener('abort', () => counts.set(type, counts.get(type)! - 1));
      add(type, listener, options);
    };
    return target;
  };
  const counts = new Map<string, number>();
  const state = { visibilityState: 'visible', prerendering: false };
  const document = Object.assign(counted(new EventTarget(), counts), state) as unknown as Document &
    typeof state;
  const window = counted(new EventTarget(), counts) as unknown as Window;
  return {
    document,
    window,
    lifecycle: createPageLifecycle({ document, window }),
    attached: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
    types: () => [...counts.keys()],
  };
};

test('calls the listeners of each event', () => {
  const { document, window, lifecycle } = setUp();
  const seen: LifecycleEvent[] = [];
  for (const moment of MOMENTS) lifecycle.on(moment, () => seen.push(moment));
  document.visibilityState = 'hidden';
  document.dispatchEvent(new Event('visibilitychange'));
  expect(lifecycle.isVisible()).toBe(false);
  window.dispatchEvent(new Event('pagehide'));
  document.dispatchEvent(new Event('resume'));
  window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
  document.visibilityState = 'visible';
  document.dispatchEvent(new Event('visibilitychange'));
  window.dispatchEvent(new Event('online'));
  document.dispatchEvent(new Event('prerenderingchange'));
  expect(seen).toEqual(['hidden', 'pagehide', 'resumed', 'restored', 'visible', 'online', 'activated']);
});

test('does not treat the first pageshow as a return from the back/forward cache', () => {
  const { window, lifecycle } = setUp();
  let restored = 0;
  lifecycle.on('restored', () => {
    restored += 1;
  });
  window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: false }));
  expect(restored).toBe(0);
});

test('attaches with the first listener and leaves no listeners after the last one is removed', () => {
  const { lifecycle, attached, types } = setUp();
  expect(attached()).toBe(0);
  const listener = () => undefined;
  const stops = [
    lifecycle.on('hidden', listener),
    lifecycle.on('hidden', listener),
    lifecycle.on('online', listener),
  ];
  expect(attached()).toBeGreaterThan(0);
  expect(types()).not.toContain('unload');
  expect(types()).not.toContain('beforeunload');
  stops[0]!();
  stops[0]!();
  expect(attached()).toBeGreaterThan(0);
  stops[1]!();
  stops[2]!();
  expect(attached()).toBe(0);
  lifecycle.on('hidden', listener)();
  expect(attached()).toBe(0);
});

test('case 31: waits for the activation of a prerendered page, but not on other pages', async () => {
  const { document, lifecycle, attached } = setUp();
  await lifecycle.whenActivated();
  document.prerendering = true;
  expect(lifecycle.isPrerendering()).toBe(true);
  let activated = false;
  const waiting = lifecycle.whenActivated().then(() => {
    activated = true;
  });
  await Promise.resolve();
  expect(activated).toBe(false);
  document.prerendering = false;
  document.dispatchEvent(new Event('prerenderingchange'));
  await waiting;
  expect(attached()).toBe(0);
});
