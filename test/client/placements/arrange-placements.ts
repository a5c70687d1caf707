import { vi } from 'vitest';
import type { Banner, Notice, PlacementHook } from '../../../src/client/index.ts';
import { createNotices } from '../../../src/client/notices.ts';
import { createPlacements } from '../../../src/client/placements/placements.ts';
import { createSlotHeights } from '../../../src/client/placements/slot-heights.ts';
import { createSlotSizes } from '../../../src/client/placements/slot-sizes.ts';
import { createClock } from '../../../src/client/platform/clock.ts';
import { buildBanner } from '../../helpers/a-banner.ts';

/** An element whose position the test sets: on screen, or 5,000 pixels below. */
export const aSlot = ({ height = 100 } = {}) => {
  const element = document.createElement('div');
  document.body.append(element);
  const view = { top: 5_000 };
  element.getBoundingClientRect = () =>
    ({ top: view.top, bottom: view.top + height, left: 0, right: 300, width: 300, height }) as DOMRect;
  Object.defineProperty(element, 'offsetHeight', { get: () => height });
  const scrollTo = (onScreen: boolean) => {
    view.top = onScreen ? 0 : 5_000;
  };
  return { element, scrollTo };
};

/** Mounted slots, with cache responses that the test controls. */
export const setUp = (onNotice: (notice: Notice) => void = () => undefined, { isWatched = true } = {}) => {
  const notices: Notice[] = [];
  const answers = new Map<string, Banner | null>();
  const state = {
    removalReason: null as null | 'user' | 'expired' | 'dismissed',
    expiresInMs: Number.POSITIVE_INFINITY,
    isVisible: true,
  };
  const track = vi.fn(async () => undefined);
  const { notify, fail, subscribe } = createNotices();
  subscribe((notice) => notices.push(notice));
  subscribe(onNotice);
  const placements = createPlacements({
    permission: { mayWrite: () => true },
    slotSizes: createSlotSizes('app'),
    cache: {
      current: (placementId) => answers.get(placementId),
      removalReason: () => state.removalReason,
      now: Date.now,
      expiresInMs: () => state.expiresInMs,
    },
    synced: new Set(['home_hero']),
    track,
    snooze: async () => undefined,
    hasShouldShow: false,
    after: createClock().after,
    fail,
    notify,
  });
  const attach = () => placements.attach(createSlotHeights(() => state.isVisible));
  if (isWatched) attach();
  const answer = (banner: Banner | null, placementId = 'home_hero') => {
    answers.set(placementId, banner);
    placements.updateAll();
  };
  const types = () =>
    notices.map((notice) => (notice.type === 'hidden' ? `hidden ${notice.reason}` : notice.type));
  return { placements, notices, types, state, answer, answers, track, attach };
};

/** Draws the headline, and removes it by itself. */
export const drawHeadline: PlacementHook = (banner, { element }) => {
  const heading = document.createElement('h2');
  heading.textContent = String(banner.properties.headline?.value);
  element.append(heading);
  return () => heading.remove();
};

export const withHeadline = (headline: string, changes: Partial<Banner> = {}) =>
  buildBanner({ ...changes, properties: { headline: { type: 'string', value: headline } } });
