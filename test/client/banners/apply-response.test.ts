import { expect, test } from 'vitest';
import type { Banner } from '../../../src/client/banner.ts';
import { acceptDismissals, applyResponse as applyMap } from '../../../src/client/banners/sync-response.ts';
import {
  addDismissals,
  emptyRecord,
  isDismissed,
  type UserRecord,
} from '../../../src/client/banners/user-record.ts';
import { buildBanner, getDismissal } from '../../helpers/a-banner.ts';
import fc from '../../helpers/property.ts';

const MINUTE = 60_000;
/** Builds a record from plain objects, which are easier to read. */
const applyResponse = (record: UserRecord, banners: Record<string, Banner | null>, fetchedAtMs: number) =>
  applyMap(record, new Map(Object.entries(banners)), fetchedAtMs);
const shown = (record: UserRecord, placementId = 'home_hero') =>
  record.banners.get(placementId)?.banner?.id ?? null;

test('case 53: removes the cached banner on null, and keeps it if the response omits the placement', () => {
  const record = emptyRecord();
  applyResponse(
    record,
    { home_hero: buildBanner(), sidebar: buildBanner({ id: 'bnr-2', placementId: 'sidebar' }) },
    1,
  );
  applyResponse(record, { home_hero: null }, 2);
  expect(shown(record)).toBeNull();
  expect(record.banners.get('home_hero')).toEqual({ banner: null, fetchedAtMs: 2 });
  expect(shown(record, 'sidebar')).toBe('bnr-2');
});

test('case 50: for each placement, the response to an older request does not replace a newer one', () => {
  const record = emptyRecord();
  applyResponse(record, { home_hero: buildBanner({ id: 'new' }) }, 20);
  applyResponse(record, { home_hero: buildBanner({ id: 'old' }), sidebar: buildBanner({ id: 'side' }) }, 10);
  expect(shown(record)).toBe('new');
  expect(shown(record, 'sidebar')).toBe('side');
});

test.each([1, 50, 48 * 60])(
  'a response requested under a clock %i minutes ahead does not block all later responses',
  (minutes) => {
    const record = emptyRecord();
    applyResponse(record, { home_hero: buildBanner({ id: 'future' }) }, (1 + minutes) * MINUTE);
    applyResponse(record, { home_hero: buildBanner({ id: 'now' }) }, MINUTE);
    expect(shown(record)).toBe('now');
  },
);

test('case 56: a dismissed banner stays hidden if the service sends it again within minutes', () => {
  const record = emptyRecord();
  applyResponse(record, { home_hero: buildBanner() }, 0);
  addDismissals(record, [getDismissal(buildBanner())]);
  expect(shown(record)).toBeNull();
  applyResponse(record, { home_hero: buildBanner() }, 1 * MINUTE);
  acceptDismissals(record, ['bnr-1'], 2 * MINUTE);
  applyResponse(record, { home_hero: buildBanner() }, 11 * MINUTE);
  expect(shown(record)).toBeNull();
  expect(isDismissed(record, buildBanner())).toBe(true);
});

test('contract 7.5: a dismissal hides the banner for ten minutes after the service accepts it', () => {
  const record = emptyRecord();
  addDismissals(record, [getDismissal(buildBanner())]);
  acceptDismissals(record, ['bnr-1'], 0);
  applyResponse(record, { home_hero: buildBanner() }, 10 * MINUTE);
  expect(shown(record)).toBe('bnr-1');
  expect(record.dismissed).toEqual([]);
});

test('contract 7.5: a dismissal that is not accepted hides the banner for as long as the service sends it', () => {
  const record = emptyRecord();
  addDismissals(record, [getDismissal(buildBanner())]);
  applyResponse(record, { home_hero: buildBanner() }, 24 * 60 * MINUTE);
  expect(shown(record)).toBeNull();
});

test.each([
  ['none', null],
  ['another banner', buildBanner({ id: 'bnr-2' })],
  ['a test send', buildBanner({ id: 'test', isTestSend: true })],
])(
  'case 56: %s in between does not restore a dismissed banner, whether or not the dismissal was accepted',
  (_, between) => {
    for (const acceptedAtMs of [null, 2 * MINUTE]) {
      const record = emptyRecord();
      addDismissals(record, [getDismissal(buildBanner())]);
      applyResponse(record, { home_hero: between }, 1 * MINUTE);
      expect(shown(record)).toBe(between?.isTestSend ? null : (between?.id ?? null));
      if (acceptedAtMs !== null) acceptDismissals(record, ['bnr-1'], acceptedAtMs);
      applyResponse(record, { home_hero: between }, 3 * MINUTE);
      applyResponse(record, { home_hero: buildBanner() }, 4 * MINUTE);
      expect(shown(record)).toBeNull();
    }
  },
);

test('case 55: a dismissal accepted under a clock two days ahead ends once the clock is correct', () => {
  const record = emptyRecord();
  addDismissals(record, [getDismissal(buildBanner())]);
  acceptDismissals(record, ['bnr-1'], 48 * 60 * MINUTE);
  applyResponse(record, { home_hero: buildBanner() }, MINUTE);
  expect(shown(record)).toBe('bnr-1');
});

test('hides a dismissed banner only in its own placement', () => {
  const record = emptyRecord();
  addDismissals(record, [getDismissal(buildBanner())]);
  applyResponse(record, { sidebar: buildBanner({ placementId: 'sidebar' }) }, 1);
  expect(shown(record, 'sidebar')).toBe('bnr-1');
});

test('case 50: each placement keeps the response to its latest request, in any order of responses', () => {
  const answers = fc.array(fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.boolean()), { maxLength: 8 });
  const shuffled = answers.chain((list) =>
    fc.shuffledSubarray(
      list.map((placements, fetchedAtMs) => ({ placements, fetchedAtMs })),
      { minLength: list.length },
    ),
  );
  fc.assert(
    fc.property(shuffled, (arrivals) => {
      const record = emptyRecord();
      const latest: Record<string, { fetchedAtMs: number; id: string | null }> = {};
      for (const { placements, fetchedAtMs } of arrivals) {
        const banners = Object.fromEntries(
          Object.entries(placements).map(([placementId, isThere]) => {
            const id = isThere ? `${placementId}-${fetchedAtMs}` : null;
            if (fetchedAtMs >= (latest[placementId]?.fetchedAtMs ?? -1))
              latest[placementId] = { fetchedAtMs, id };
            return [placementId, id === null ? null : buildBanner({ id, placementId })];
          }),
        );
        applyResponse(record, banners, fetchedAtMs);
      }
      for (const [placementId, { id }] of Object.entries(latest)) expect(shown(record, placementId)).toBe(id);
    }),
  );
});
