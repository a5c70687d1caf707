import { expect, test, vi } from 'vitest';
import type { Store } from '../../src/client/index.ts';
import { logName } from '../../src/client/options/options.ts';
import { assertConserved, createFakeService } from '../../src/testing/index.ts';
import { aProfile, aSlot, draw, hero, open, PATIENCE, stagePages } from './pages.ts';

stagePages();

/** A profile that counts the calls to its stores. */
const aWatchedProfile = () => {
  const openStore = aProfile();
  const calls: string[] = [];
  const watched = (name: string): Store =>
    new Proxy(openStore(name), {
      get(store, verb) {
        calls.push(`${name}.${String(verb)}`);
        return Reflect.get(store, verb);
      },
    });
  return { openStore: watched, calls };
};

/** Consent is pending, and a banner was seen and clicked. */
const undecided = async () => {
  const profile = aWatchedProfile();
  const page = open({ consent: 'pending', openStore: profile.openStore });
  const element = aSlot();
  Object.defineProperty(element, 'offsetHeight', { value: 120 });
  page.placard.mount('home_hero', element, draw);
  await page.heard('tracked');
  const clicked = await page.placard.track(page.placard.banner('home_hero')!, 'click');
  return { ...page, ...profile, element, clicked };
};

test('shows banners but does not store or send anything while consent is pending', async () => {
  const { placard, service, element, calls, clicked } = await undecided();
  expect(element.textContent).toBe('Summer sale');
  expect(clicked).toMatchObject({ type: 'click', bannerId: 'bnr-1' });
  await placard.flush();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(service.events).toEqual([]);
  expect(calls).toEqual([]);
  expect(localStorage).toHaveLength(0);
  expect(await placard.diagnostics()).toMatchObject({ captured: 2, pending: 2, memoryMode: true });
});

test('an opt-in stores earlier events with their original times, and sends them once', async () => {
  const { placard, service, openStore, of, clicked } = await undecided();
  const before = of('tracked').map(({ event }) => event);
  await vi.advanceTimersByTimeAsync(60_000);
  await placard.enable();
  await vi.waitFor(() => expect(of('memory-mode').at(-1)).toMatchObject({ on: false }), PATIENCE);
  await placard.flush();
  expect(service.events.map(({ type, time }) => ({ type, time }))).toEqual(
    before.map(({ type, time }) => ({ type, time })),
  );
  expect(before).toContainEqual(clicked);
  expect(await openStore('placard-banners').entries()).toHaveLength(1);
  const diagnostics = await placard.diagnostics();
  assertConserved(diagnostics);
  expect(diagnostics).toMatchObject({ captured: 2, delivered: 2 });
});

test('stores events from before an opt-in in IndexedDB before enable() resolves', async () => {
  const { placard, service, openStore } = await undecided();
  await placard.enable();
  const stored = (await openStore(logName(service.origin, 'app')).entries()).map(
    ([key]) => (key as string[])[0],
  );
  expect(stored.filter((kind) => kind === 'event')).toHaveLength(2);
});

test('keeps the banner in place after the opt-in, and the next page reads it from the cache', async () => {
  const { placard, service, openStore, of } = await undecided();
  await placard.enable();
  expect(of('shown')).toHaveLength(1);
  placard.stop();
  service.fail({ type: 'drop', when: 'before' }, { times: Number.POSITIVE_INFINITY });
  const next = open({ service, openStore });
  next.placard.mount('home_hero', aSlot(), draw);
  await next.heard('shown');
  expect(next.of('shown')).toMatchObject([{ from: 'cache' }]);
});

test('applies a dismissal from before the opt-in on the next page', async () => {
  const { placard, service, openStore } = await undecided();
  await placard.track(placard.banner('home_hero')!, 'dismiss');
  await placard.enable();
  placard.stop();
  const next = open({ service, openStore });
  const element = aSlot();
  next.placard.mount('home_hero', element, draw);
  await next.heard('hidden');
  expect(element.textContent).toBe('');
});

test.each(['keep', 'send', 'purge'] as const)(
  'an opt-out removes all earlier events under any policy for queued events (%s)',
  async (queued) => {
    const { placard, service, openStore, element } = await undecided();
    await placard.disable(queued);
    expect(element.textContent).toBe('');
    await vi.advanceTimersByTimeAsync(120_000);
    await placard.enable();
    await placard.flush();
    expect(service.events.map(({ type }) => type)).not.toContain('click');
    expect(await openStore('placard-banners').entries()).toHaveLength(1);
    assertConserved(await placard.diagnostics());
  },
);

test('applies an opt-in even if an earlier visit opted out', async () => {
  const openStore = aProfile();
  const first = open({ openStore });
  first.placard.mount('home_hero', aSlot(), draw);
  await first.heard('tracked');
  await first.placard.disable('purge');
  first.placard.stop();
  const service = createFakeService({ banners: { home_hero: hero } });
  const { placard, heard } = open({ service, openStore, consent: 'pending' });
  placard.mount('home_hero', aSlot(), draw);
  await heard('tracked');
  await placard.enable();
  await placard.flush();
  expect(service.events.map(({ type }) => type)).toEqual(['impression']);
});

test('keeps the banners of a user who is known before the choice', async () => {
  const { openStore, placard, heard, service } = await undecided();
  await placard.identify('u-2');
  await heard('tracked', 3);
  await placard.enable();
  const stored = await openStore('placard-banners').entries();
  expect(stored.map(([key]) => (key as string[]).at(-1))).toEqual(['u-2']);
  await placard.flush();
  expect(new Set(service.events.map(({ userId }) => userId))).toEqual(new Set(['u-1', 'u-2']));
});

test('does not store data for the next page without a choice', async () => {
  const { placard, openStore, service } = await undecided();
  placard.stop();
  const next = open({ service, openStore });
  await vi.advanceTimersByTimeAsync(5_000);
  await next.placard.flush();
  expect(service.events).toEqual([]);
});
