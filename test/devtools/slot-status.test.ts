import { describe, expect, test } from 'vitest';
import type { Inspection, PlacementState, SlotState } from '../../src/client/index.ts';
import { getSlotStatus } from '../../src/devtools/slot-status.ts';
import { buildBanner } from '../helpers/a-banner.ts';
import { anEmptySlot, anInspection, aPlacement, aSlot, aView, heard, NOW } from './states.ts';

const describeStatus = (
  placement: PlacementState,
  slot: SlotState | null,
  { share = 1, ...changes }: Partial<Inspection> & { share?: number } = {},
) => getSlotStatus(placement, slot, { inspection: anInspection(changes), share, now: NOW });

const next = buildBanner({ id: 'bnr-2', properties: { headline: { type: 'string', value: 'Winter sale' } } });
const control = buildBanner({ isControl: true });

describe('a slot without a banner reports', () => {
  test.each([
    ['that the user is signed out', aPlacement(), anEmptySlot(), { userId: null }, 'Signed out', /identify/],
    ['that there is no consent', aPlacement(), anEmptySlot(), { isActive: false }, 'Off', /enable\(\)/],
    ['that nothing shows the placement', aPlacement(), null, {}, 'Not mounted', /placard\.mount\(\)/],
    [
      'that there is no response yet',
      aPlacement({ banner: undefined }),
      anEmptySlot({ emptyReason: null }),
      {},
      'No response yet',
      /is pending/,
    ],
    [
      'that no campaign targets the user, or a cap blocks the banner',
      aPlacement({ banner: null }),
      anEmptySlot(),
      {},
      'No banner',
      /No active campaign .* run the command/,
    ],
    [
      'that the user is held out',
      aPlacement({ banner: control }),
      aSlot({ shown: control }),
      {},
      'Control group',
      /control group/,
    ],
    [
      'that the user is held out before the slot is notified',
      aPlacement({ banner: control }),
      anEmptySlot({ emptyReason: 'control' }),
      {},
      'Control group',
      /control group/,
    ],
    [
      'that the banner was dismissed',
      aPlacement({ banner: null, isDismissed: true }),
      anEmptySlot({ emptyReason: 'dismissed' }),
      {},
      'Dismissed',
      /dismissed this banner/,
    ],
    [
      'that the page blocks it',
      aPlacement(),
      anEmptySlot({ emptyReason: 'blocked' }),
      {},
      'Blocked by the page',
      /shouldShow.*reevaluate/,
    ],
    [
      'the end of a snooze',
      aPlacement({ snoozedUntil: NOW + 7_200_000 }),
      anEmptySlot({ emptyReason: 'dismissed' }),
      {},
      'Snoozed',
      /return in 2\sh/,
    ],
    [
      'that it was dismissed only in the sandbox',
      aPlacement({ isHidden: true }),
      anEmptySlot({ emptyReason: 'dismissed' }),
      {},
      'Dismissed',
      /sandbox ends/,
    ],
    [
      'when the banner expired',
      aPlacement({ banner: buildBanner({ expiresAt: NOW - 120_000 }), isExpired: true }),
      anEmptySlot({ emptyReason: 'expired' }),
      {},
      'Expired',
      /expired 2\smin ago/,
    ],
    [
      'which property is invalid',
      aPlacement(),
      anEmptySlot({ emptyReason: 'invalid', issues: [{ message: 'too long', path: ['a', { key: 'b' }] }] }),
      {},
      'Invalid banner',
      /^a\.b: too long\. Change/,
    ],
    [
      'that the hook threw',
      aPlacement(),
      anEmptySlot({ emptyReason: 'invalid' }),
      {},
      'Invalid banner',
      /hook threw/,
    ],
    ['that a closed slot opens out of view', aPlacement(), anEmptySlot(), {}, 'Waiting', /out of view/],
    [
      'that the check is pending',
      aPlacement(),
      anEmptySlot({ emptyReason: null }),
      {},
      'Waiting',
      /check or shouldShow\(\) is pending/,
    ],
  ] as const)('%s', (_, placement, slot, changes, title, why) => {
    const status = describeStatus(placement, slot, changes);
    expect(status.title).toBe(title);
    expect(status.why).toMatch(why);
  });

  test('the wait that the service requested, and its message', () => {
    const failed = heard({ type: 'failed', kind: 'sync', message: 'Sync of home_hero: 429 Over rate limit' });
    const changes = { syncWaitsUntil: NOW + 8_000, recent: [failed] };
    expect(describeStatus(aPlacement({ banner: undefined }), anEmptySlot(), changes)).toEqual({
      tone: 'bad',
      title: 'No response',
      why: 'Next request in 8\u00a0s. Sync of home_hero: 429 Over rate limit',
    });
  });

  test('that the service may not have the placement, once it has responded for others', () => {
    const recent = [heard({ type: 'synced', placements: ['other'], banners: { other: null } })];
    const { why } = describeStatus(aPlacement({ banner: undefined }), anEmptySlot(), { recent });
    expect(why).toMatch(/workspace has this one/);
  });
});

describe('a slot with a banner reports', () => {
  test.each([
    ['that it is focused', aPlacement({ isFocused: true }), aSlot(), 'Focused', /events are not sent/],
    [
      'which banner replaces it out of view',
      aPlacement({ banner: next }),
      aSlot(),
      'Shown',
      /“Winter sale” is next/,
    ],
    [
      'that it stays until it is out of view',
      aPlacement({ banner: null }),
      aSlot(),
      'Shown',
      /No banner is next/,
    ],
  ])('%s', (_, placement, slot, title, why) => {
    expect(describeStatus(placement, slot).title).toBe(title);
    expect(describeStatus(placement, slot).why).toMatch(why);
  });

  test('that the last sync failed, if the banner is from the cache', () => {
    const failed = heard({ type: 'failed', kind: 'unauthorized', message: 'Sync: 401 Invalid API key' });
    const synced = heard({ type: 'synced', placements: ['home'], banners: {} });
    const seen = aSlot({ view: aView({ isSeen: true }) });
    expect(describeStatus(aPlacement(), seen, { recent: [synced, failed] })).toEqual({
      tone: 'bad',
      title: 'Seen',
      why: 'Cached, because the last sync failed: Sync: 401 Invalid API key Shown, impression counted.',
    });
    expect(describeStatus(aPlacement(), seen, { recent: [failed, synced] }).tone).toBe('good');
  });

  test('no other response behind a test send', () => {
    const test = buildBanner({ id: 'test', isTestSend: true });
    expect(describeStatus(aPlacement({ banner: null }), aSlot({ shown: test })).title).toBe('Not seen yet');
  });

  const flat = document.createElement('div');
  test.each([
    ['that its impression is counted', aSlot({ view: aView({ isSeen: true }) }), 1, /impression counted/],
    ['that the browser cannot measure visibility', aSlot({ view: null }), 1, /no IntersectionObserver/],
    ['that the slot has no size', aSlot({ element: flat }), 1, /no size/],
    ['that its content is loading', aSlot({ view: aView({ isBusy: true }) }), 1, /aria-busy/],
    ['that it is out of view', aSlot(), 0, /Scroll to it/],
    ['the missing share', aSlot(), 0.4, /40% in view, 50% required/],
    ['that none of it is visible', aSlot({ view: aView({ isInvisible: true }) }), 1, /opacity/],
    ['that something covers it', aSlot({ view: aView({ isCovered: true }) }), 1, /^Covered by/],
    ['the elapsed part of the second', aSlot({ view: aView({ dwellMs: 440 }) }), 0.6, /0\.4 of 1\.0 s/],
  ])('%s', (_, slot, share, why) => {
    const status = describeStatus(aPlacement(), slot, { share });
    expect(status.why).toMatch(why);
    expect(status.title).toBe(slot.view?.isSeen ? 'Seen' : 'Not seen yet');
  });
});
