import { expect, test, vi } from 'vitest';
import type { Banner } from '../../../src/client/index.ts';
import { createOverlay } from '../../../src/client/inspector/overlay.ts';
import { buildBanner } from '../../helpers/a-banner.ts';

const anOverlay = () => {
  const previews = new Map<string, Banner | null>();
  let take: (event: unknown) => boolean = () => false;
  const cache = {
    previews,
    update: vi.fn(),
    interceptEvents(by: typeof take) {
      take = by;
    },
  };
  const settings = { platform: { now: () => 5 } };
  const overlay = createOverlay({ cache, settings, placements: { updateAll: vi.fn() } } as never, {
    reset: vi.fn(),
  });
  const event = (type: string, bannerId: string) => take({ type, bannerId, placementId: 'home_hero' });
  return { overlay, previews, event };
};

test('a focused banner is a copy that never expires and does not count as the original', () => {
  const { overlay, previews, event } = anOverlay();
  const original = buildBanner({ isControl: true, expiresAt: 1 });
  overlay.focus('home_hero', original);
  const copy = previews.get('home_hero')!;
  expect(copy).toMatchObject({ isControl: false, isTestSend: true, expiresAt: null });
  expect(copy.id).not.toBe(original.id);
  expect(event('click', copy.id)).toBe(true);
  expect(event('click', original.id)).toBe(false);
});

test('dismissing a focused banner ends its focus, and its events are still accepted', () => {
  const { overlay, previews, event } = anOverlay();
  overlay.focus('home_hero', buildBanner());
  const { id } = previews.get('home_hero')!;
  expect(event('dismiss', id)).toBe(true);
  expect(overlay.isFocused('home_hero')).toBe(false);
  expect(event('click', id)).toBe(true);
});

test('the sandbox accepts all events and hides dismissed banners until it ends', () => {
  const { overlay, previews, event } = anOverlay();
  overlay.sandbox(true);
  expect([event('impression', 'b'), event('dismiss', 'b')]).toEqual([true, true]);
  expect(previews.get('home_hero')).toBeNull();
  expect(overlay.state().events.map(({ type }) => type)).toEqual(['impression', 'dismiss']);
  overlay.sandbox(false);
  expect(previews.size).toBe(0);
  expect(event('click', 'b')).toBe(false);
  expect(overlay.state()).toEqual({ isOn: false, events: [] });
});

test('ending the focus does not restore banners that the sandbox hides', () => {
  const { overlay, previews, event } = anOverlay();
  overlay.sandbox(true);
  event('dismiss', 'b');
  overlay.focus('home_hero', null);
  expect([...previews]).toEqual([['home_hero', null]]);
});
