import { describe, expect, test } from 'vitest';
import { type Audience, compileAudience } from '../../../src/service/campaigns/audience.ts';
import { type Asker, audienceOf } from '../../../src/service/campaigns/audience-document.ts';
import { mayMatch, readPath } from '../../../src/service/campaigns/may-match.ts';
import { completeProfile } from '../../../src/service/profiles/profile.ts';
import fc from '../../helpers/property.ts';

const NOW = Date.parse('2026-03-01T09:00:00Z');
const DAY = 24 * 60 * 60 * 1000;

type Filter = Record<string, unknown>;

const anAsker = (custom: Record<string, unknown> | null, standard: Record<string, unknown> = {}): Asker => ({
  externalId: 'u-771',
  appId: 'app',
  appVersion: '4.2.0',
  profile:
    custom &&
    completeProfile({
      userId: 771,
      externalId: 'u-771',
      email: 'kim@example.org',
      standard: { country: 'PL', ...standard },
      custom,
      subscriptionGroups: { 'group-1': { state: 'subscribed' } },
      events: { quiz_done: { count: 3, first: NOW - 40 * DAY, last: NOW - 2 * DAY } },
      purchases: { teapot: { count: 2, first: NOW - 90 * DAY, last: NOW - 10 * DAY, revenue: 84 } },
      createdAtMs: NOW,
      updatedAtMs: NOW,
    }),
});

const compiled = (filter: Filter): Audience =>
  compileAudience(filter, (path, problem) => {
    throw new Error(`${path.join('.')}: ${problem}`);
  })!;

const value = fc.oneof(
  fc.constantFrom('gold', 'silver', 'PL', '', '1'),
  fc.constantFrom(0, 1, 1.5, -1, -0, 3, 84, Number.NaN),
  fc.boolean(),
  fc.constant(null),
);
const stored = fc.oneof(
  value,
  fc.array(value, { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('a', 'b'), value, { noNullPrototype: true }),
);
const condition = fc.oneof(
  value,
  fc.record(
    {
      $eq: value,
      $ne: value,
      $in: fc.array(value, { maxLength: 3 }),
      $nin: fc.array(value, { maxLength: 3 }),
      $gt: value,
      $gte: value,
      $lt: value,
      $lte: value,
      $exists: fc.boolean(),
    },
    { requiredKeys: [], noNullPrototype: true },
  ),
);
const path = fc.constantFrom(
  'tier',
  'x',
  'x.a',
  'x.b',
  'x.length',
  'x.0',
  'constructor',
  'country',
  'email',
  'phone',
  'external_id',
  'user_aliases',
  'current_location.latitude',
  'subscription_groups.group-1',
  'subscription_groups.group-2',
  'events.quiz_done.count',
  'events.quiz_done.first',
  'events.quiz_done.last_days_ago',
  'events.constructor.count',
  'purchases.teapot.revenue',
  'purchases.teapot.first_days_ago',
);
/** A count is compared with a number, a first time with a date. */
const isTaken = (asked: Filter) => compileAudience(asked, () => undefined) !== undefined;
const leaf = fc
  .dictionary(path, condition, { minKeys: 1, maxKeys: 2, noNullPrototype: true })
  .filter(isTaken);
const filter: fc.Arbitrary<Filter> = fc.oneof(
  leaf,
  fc.record({ $and: fc.array(leaf, { minLength: 1, maxLength: 3 }) }, { noNullPrototype: true }),
  fc.record({ $or: fc.array(leaf, { minLength: 1, maxLength: 3 }) }, { noNullPrototype: true }),
  fc.record(
    { $nor: fc.array(leaf, { minLength: 1, maxLength: 2 }), tier: condition },
    { noNullPrototype: true },
  ),
);
const asker = fc
  .option(fc.dictionary(fc.constantFrom('tier', 'x', 'constructor'), stored, { noNullPrototype: true }), {
    freq: 9,
  })
  .chain((custom) =>
    fc
      .dictionary(fc.constantFrom('country', 'current_location'), stored, { noNullPrototype: true })
      .map((standard) => anAsker(custom, standard)),
  );

describe('the quick checks of an audience', () => {
  test('never say no where the library says yes', () => {
    let nos = 0;
    fc.assert(
      fc.property(filter, asker, (asked, who) => {
        const audience = compiled(asked);
        if (mayMatch(audience.clauses, who, NOW)) return;
        nos += 1;
        expect(audience.matches(audienceOf(who, NOW))).toBe(false);
      }),
      { numRuns: 5_000 },
    );
    expect(nos).toBeGreaterThan(1_000);
  });

  test.each([
    [{ tier: 'silver' }],
    [{ tier: { $in: ['silver', 'bronze'] } }],
    [{ visits: { $gte: 13 } }],
    [{ visits: { $lt: 12 } }],
    [{ nothing: 'x' }],
    [{ country: 'DE', tier: 'gold' }],
    [{ $or: [{ tier: 'silver' }, { 'events.quiz_done.count': { $gt: 3 } }] }],
    [{ $and: [{ tier: { $ne: 'silver' } }, { 'subscription_groups.group-2': 'subscribed' }] }],
    [{ 'events.quiz_done.last_days_ago': { $lte: 1 } }],
    [{ 'purchases.teapot.revenue': { $gt: 84 } }],
  ])('tell without the library that %j is not for a user', (asked) => {
    expect(mayMatch(compiled(asked).clauses, anAsker({ tier: 'gold', visits: 12 }), NOW)).toBe(false);
  });
});

describe('a path', () => {
  const who = anAsker({ tier: 'gold', address: { city: 'Łódź' }, tags: ['vip'] }, { country: 'PL' });
  test.each([
    ['custom_attributes.tier', 'gold'],
    ['custom_attributes.address.city', 'Łódź'],
    ['custom_attributes.nothing.city', undefined],
    ['custom_attributes.tags.0', ['vip']],
    ['country', 'PL'],
    ['external_id', 'u-771'],
    ['braze_id', '771'],
    ['email', 'kim@example.org'],
    ['phone', null],
    ['app_id', 'app'],
    ['app_version', '4.2.0'],
    ['subscription_groups.group-1', 'subscribed'],
    ['subscription_groups.constructor', undefined],
    ['events.quiz_done.count', 3],
    ['events.quiz_done.last_days_ago', 2],
    ['events.quiz_done.first_days_ago', 40],
    ['events.never_done.count', undefined],
    ['purchases.teapot.revenue', 84],
  ])('%s reads %j', (name, expected) => {
    expect(readPath(name)!(who, NOW)).toEqual(expected);
  });

  test.each([
    'events',
    'events.quiz_done',
    'events.quiz_done.last',
    'events.a.b.count',
    'events.quiz_done.revenue',
    'user_aliases',
    'event_list',
    'purchase_list',
    'subscription_groups',
  ])('%s is left to the document', (name) => {
    expect(readPath(name)).toBeNull();
  });
});
