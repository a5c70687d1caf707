import { expect, test } from 'vitest';
import type { Profile } from '../../../src/service/profiles/profile.ts';
import { completeProfile, writeProfile } from '../../../src/service/profiles/profile-text.ts';
import { packProfile, unpackProfile } from '../../../src/service/store/postgres/packed-profile.ts';

const CREATED = Date.UTC(2026, 2, 1);

const aProfile = (): Profile =>
  completeProfile({
    brazeId: '0123456789abcdef012345678',
    externalId: 'u-1',
    custom: { tier: 'gold', scores: [1, 2] },
    events: {
      seen: { first: CREATED - 1, last: CREATED + 5_000, count: 12 },
      ancient: { first: Date.UTC(-1, 0, 1), last: Date.UTC(2999, 11, 31), count: 2 },
      ...JSON.parse(`{ "__proto__": { "first": ${CREATED}, "last": ${CREATED}, "count": 3 } }`),
    },
    purchases: { sku: { first: CREATED, last: CREATED, count: 1, revenue: 0.1 + 0.2 } },
    createdAtMs: CREATED,
    updatedAtMs: CREATED + 9,
  });

test('a profile comes out of its row as it went in, whatever its events are called', () => {
  const profile = unpackProfile(packProfile(aProfile()));
  expect(profile).toEqual(aProfile());
  expect(Object.keys(profile.events)).toEqual(['seen', 'ancient', '__proto__']);
});

test('packing leaves the profile as it is', () => {
  const profile = aProfile();
  packProfile(profile);
  expect(profile).toEqual(aProfile());
});

test('what an earlier version has written is read as well', () => {
  expect(unpackProfile(writeProfile(aProfile()))).toEqual(aProfile());
});

test('a profile that is mostly tallies takes little more than half of the room', () => {
  const names = Array.from({ length: 20 }, (_, i) => `event_${i}`);
  const tally = { first: CREATED + 60_000, last: CREATED + 90_000, count: 30 };
  const profile = { ...aProfile(), events: Object.fromEntries(names.map((name) => [name, tally])) };
  expect(packProfile(profile).length).toBeLessThan(0.6 * writeProfile(profile).length);
});

test('what is remembered of a user is brought up to date, with what is new and without what is gone', () => {
  const latest = aProfile();
  const remembered = unpackProfile(packProfile(latest));
  latest.events['seen']!.count = 13;
  latest.events['new'] = { first: CREATED, last: CREATED + 1, count: 1 };
  latest.purchases['sku']!.revenue = 7;
  latest.externalId = null;
  latest.custom = { tier: 'silver' };
  expect(unpackProfile(packProfile(latest), remembered)).toBe(remembered);
  expect(remembered).toEqual(latest);
  const { ancient, ...events } = latest.events;
  latest.events = events;
  latest.purchases = {};
  expect(ancient).toBeDefined();
  expect(unpackProfile(packProfile(latest), remembered)).toEqual(latest);
});
