import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { compileAudience } from '../../../src/service/campaigns/audience/audience.ts';
import type { Profile } from '../../../src/service/profiles/profile.ts';

const NOW = Date.parse('2026-03-01T09:00:00Z');
const DAY = 24 * 60 * 60 * 1000;

const aProfile = (members: Partial<Profile> = {}): Profile => ({
  userId: 771,
  externalId: 'u-771',
  aliases: [],
  email: 'kim@example.org',
  phone: null,
  standard: { first_name: 'Kim', country: 'PL', language: 'pl', dob: '1990-05-01' },
  custom: {
    tier: 'gold',
    visits: 12,
    tags: ['vip', 'tea'],
    address: { city: 'Łódź' },
    vip: true,
    trips: [{ first: '2026-03-01', last: '2026-03-04' }],
  },
  subscriptionGroups: { 'group-1': { state: 'subscribed' } },
  pushTokens: [],
  onClickHashes: [],
  events: {
    quiz_done: { count: 3, first: NOW - 40 * DAY, last: NOW - 2 * DAY },
    'order.placed': { count: 1, first: NOW - DAY, last: NOW - DAY },
  },
  purchases: { teapot: { count: 2, first: NOW - 90 * DAY, last: NOW - 10 * DAY, revenue: 84 } },
  createdAtMs: NOW,
  updatedAtMs: NOW,
  ...members,
});

const compile = (filter: Record<string, unknown>) => {
  const problems: [path: string, message: string][] = [];
  const audience = compileAudience(filter, (path, { message }) => problems.push([path.join('.'), message]));
  return { audience, problems };
};

const isIn = (filter: Record<string, unknown>, profile: Profile | null = aProfile()): boolean => {
  const { audience, problems } = compile(filter);
  expect(problems).toEqual([]);
  const context = {
    externalId: 'u-771',
    profile,
    campaigns: () => ({}),
    appId: 'app',
    appVersion: '4.2.0',
    nowMs: NOW,
  };
  const membership = audience!.membership(context);
  expect(audience!.failingParts(context).length > 0).toBe(membership !== 'in');
  return membership === 'in';
};

// Differs from any server's time zone, so that no result may depend on it.
beforeAll(() => void vi.stubEnv('TZ', 'America/New_York'));
afterAll(() => void vi.unstubAllEnvs());

describe('an audience', () => {
  test.each([
    [{}, true],
    [{ external_id: 'u-771' }, true],
    [{ external_id: { $in: ['u-1', 'u-2'] } }, false],
    [{ country: 'PL' }, true],
    [{ country: { $ne: 'PL' } }, false],
    [{ email: { $regex: '@example\\.org$' } }, true],
    [{ email: { $regex: '@EXAMPLE\\.org$', $options: 'i' } }, true],
    [{ email: { $regex: '^(?:kim|jo|lee|max)[.]?.*@example\\.(?:org|com|net)$' } }, true],
    [{ tier: { $regex: '^g(?=o).*?l{1}?d$' } }, true],
    [{ tier: { $regex: '^.*o.*d' } }, true],
    [{ tier: { $regex: 'g(?:o|0).*d' } }, true],
    [{ tier: { $regex: 'a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p|q|r|s|t|u|v|w|x|y|z' } }, true],
    [{ phone: { $exists: false } }, true],
    [{ 'custom_attributes.tier': 'gold' }, true],
    [{ 'custom_attribute.tier': 'gold' }, true],
    [{ tier: 'gold' }, true],
    [{ tier: { $in: ['silver', 'gold'] } }, true],
    [{ visits: { $gte: 12 } }, true],
    [{ visits: { $gt: 12 } }, false],
    [{ visits: { $mod: [5, 2] } }, true],
    [{ tier: { $mod: [5, 0] } }, false],
    [{ nothing: { $mod: [5, 0] } }, false],
    [{ $not: { tier: 'silver' } }, true],
    [{ tags: { $all: [{ $regex: '^v' }, 'tea'] } }, true],
    [{ tier: { $not: { $or: [{ $eq: 'gold' }, { $eq: 'silver' }] } } }, false],
    [{ vip: true }, true],
    [{ tags: 'vip' }, true],
    [{ tags: { $all: ['vip', 'tea'] } }, true],
    [{ tags: { $size: 2 } }, true],
    [{ tags: { $nin: ['coffee'] } }, true],
    [{ 'address.city': 'Łódź' }, true],
    // Text named like an event's times is compared as text.
    [{ trips: { $elemMatch: { first: '2026-03-01', last: { $gte: '2026-03-02' } } } }, true],
    [{ trips: { $elemMatch: { first: { $lt: '2026-03-01' } } } }, false],
    [{ nothing: { $exists: true } }, false],
    [{ nothing: null }, true],
    [{ $or: [{ tier: 'silver' }, { country: 'PL' }] }, true],
    [{ $and: [{ tier: 'gold' }, { country: 'DE' }] }, false],
    [{ $nor: [{ tier: 'silver' }, { country: 'DE' }] }, true],
    [{ tier: { $not: { $in: ['gold'] } } }, false],
    [{ 'subscription_groups.group-1': 'subscribed' }, true],
    [{ 'subscription_groups.GROUP-1': 'subscribed' }, true],
    [{ 'subscription_groups.group-2': 'subscribed' }, false],
    [{ app_version: '4.2.0' }, true],
  ])('%j: %s', (filter, expected) => {
    expect(isIn(filter)).toBe(expected);
  });

  test.each([
    [{ 'events.quiz_done.count': { $gte: 3 } }, true],
    [{ 'events.quiz_done.count': { $gte: 4 } }, false],
    [{ 'events.never_done': { $exists: false } }, true],
    [{ 'events.never_done.count': { $not: { $gte: 1 } } }, true],
    [{ 'events.quiz_done.last': { $gte: '2026-02-27T09:00:00Z' } }, true],
    [{ 'events.quiz_done.last': { $gte: '2026-02-27T10:00:00.000+01:00' } }, true],
    [{ 'events.quiz_done.last': { $gt: '2026-02-27T09:00:00.001Z' } }, false],
    // UTC if no zone is given, regardless of the server's zone.
    [{ 'events.quiz_done.last': '2026-02-27T09:00:00' }, true],
    [{ 'events.quiz_done.last': '2026-02-27 09:00' }, true],
    [{ 'events.quiz_done.first': { $lt: '2026-02-01' } }, true],
    [{ 'events.quiz_done.last_days_ago': { $lte: 2 } }, true],
    [{ 'events.quiz_done.last_days_ago': { $lt: 2 } }, false],
    [{ 'events.quiz_done.first_days_ago': { $gte: 30, $lte: 60 } }, true],
    [{ 'purchases.teapot.count': 2 }, true],
    [{ 'purchases.teapot.revenue': { $gte: 80 } }, true],
    [{ 'purchases.teapot.last_days_ago': { $lte: 7 } }, false],
    [{ event_list: { $elemMatch: { name: 'order.placed', count: { $gte: 1 } } } }, true],
    [{ event_list: { $elemMatch: { name: 'order.placed', last: { $gte: '2026-02-28T09:00:00Z' } } } }, true],
    [{ purchase_list: { $elemMatch: { product_id: 'teapot', revenue: { $gt: 84 } } } }, false],
    [{ 'events.never_done.last': null }, true],
    [{ 'events.quiz_done.count': { $in: [3, null] } }, true],
    // A custom attribute may contain any name, also that of an event's list.
    [{ 'address.events.city.name': { $exists: false } }, true],
  ])('history: %j: %s', (filter, expected) => {
    expect(isIn(filter)).toBe(expected);
  });

  test.each<[unknown, boolean]>([
    ['2026-03-01T00:00:00Z', true],
    ['2025-12-31T00:00:00Z', false],
    ['03/01/2026', false],
    [{ $time: '2026-03-01T00:00:00Z' }, false],
  ])('compares a date in an attribute as text: %j', (renewal, isFound) => {
    expect(isIn({ renewal: { $gte: '2026-01-01' } }, aProfile({ custom: { renewal } }))).toBe(isFound);
  });

  test('includes users without a profile as anonymous users', () => {
    expect(isIn({}, null)).toBe(true);
    expect(isIn({ external_id: 'u-771' }, null)).toBe(true);
    expect(isIn({ tier: 'gold' }, null)).toBe(false);
    expect(isIn({ tier: { $ne: 'gold' } }, null)).toBe(true);
    expect(isIn({ 'events.quiz_done.count': { $gte: 1 } }, null)).toBe(false);
  });

  test.each([
    [{ $where: 'true' }, '$where'],
    [{ tier: { $where: 'this.x' } }, 'tier.$where'],
    [{ $expr: { $gt: ['$a', 1] } }, '$expr'],
    [{ $function: {} }, '$function'],
    [{ $or: [{ tier: 'gold' }, { tier: { $code: 'x' } }] }, '$or.1.tier.$code'],
    [{ $or: {} }, '$or'],
    [{ $or: [] }, '$or'],
    [{ tier: { $in: 'gold' } }, 'tier.$in'],
    [{ tags: { $elemMatch: 'vip' } }, 'tags.$elemMatch'],
    [{ tier: { $regex: '(' } }, 'tier.$regex'],
    [{ tier: { $regex: '(a+)+$' } }, 'tier.$regex'],
    [{ tier: { $regex: '.*.*.*x' } }, 'tier.$regex'],
    [{ tier: { $regex: 'x*x*y' } }, 'tier.$regex'],
    [{ tier: { $regex: '^x|y*y*z' } }, 'tier.$regex'],
    [{ tier: { $regex: '^[^z]*[^z]*z', $options: 'm' } }, 'tier.$regex'],
    [{ tier: { $regex: `${'(?:x|x)'.repeat(4)}x*y` } }, 'tier.$regex'],
    [{ tier: { $regex: '(a)\\1' } }, 'tier.$regex'],
    [{ tier: { $regex: `${'(?:a|a)'.repeat(22)}b` } }, 'tier.$regex'],
    [{ tier: { $regex: 'a?'.repeat(27) + 'a'.repeat(27) } }, 'tier.$regex'],
    [{ tier: { $regex: `${'}?'.repeat(27)}b` } }, 'tier.$regex'],
    [{ tier: { $regex: `a*${'a??'.repeat(3)}a*b` } }, 'tier.$regex'],
    [{ app_version: { $vgte: 10 } }, 'app_version.$vgte'],
    [{ app_version: { $vgte: 'latest' } }, 'app_version.$vgte'],
    [{ tier: { $ini: 'gold' } }, 'tier.$ini'],
    [{ 'a.__proto__.b': 1 }, 'a.__proto__.b'],
    [JSON.parse('{ "__proto__": "x" }'), '__proto__'],
    [{ 'events.quiz_done.cnt': { $gte: 1 } }, 'events.quiz_done.cnt'],
    [{ 'events.quiz_done.revenue': { $gte: 1 } }, 'events.quiz_done.revenue'],
    [{ 'events.order.placed.count': { $gte: 1 } }, 'events.order.placed.count'],
    [{ 'events.quiz_done.last.day': 1 }, 'events.quiz_done.last.day'],
    [{ 'purchases.teapot.price': 5 }, 'purchases.teapot.price'],
    [{ $or: [{ 'purchases.teapot': { counted: 5 } }] }, '$or.0.purchases.teapot.counted'],
    [{ 'events.quiz_done.count': { $gte: 'many' } }, 'events.quiz_done.count.$gte'],
    [{ 'events.quiz_done.count': { $not: { $lt: '2' } } }, 'events.quiz_done.count.$not.$lt'],
    [{ 'events.quiz_done.last_days_ago': true }, 'events.quiz_done.last_days_ago'],
    [{ 'purchases.teapot.revenue': { $in: [5, '6'] } }, 'purchases.teapot.revenue.$in'],
    [{ 'purchases.teapot.first': { $lt: 'last summer' } }, 'purchases.teapot.first.$lt'],
    [
      { event_list: { $elemMatch: { name: 'quiz', count: { $gte: 'many' } } } },
      'event_list.$elemMatch.count.$gte',
    ],
    [{ address: { city: { $in: ['Berlin'] } } }, 'address.city.$in'],
    [{ tier: { $gt: 1, name: 'gold' } }, 'tier.name'],
    [{ tier: { $or: [{ $eq: 'gold' }] } }, 'tier.$or'],
    [{ $gt: 5 }, '$gt'],
    [{ visits: { $mod: 5 } }, 'visits.$mod'],
    [{ tags: { $size: { $gt: 1 } } }, 'tags.$size'],
    [{ tier: { $regex: 'a', $options: 'q' } }, 'tier.$regex'],
  ])('rejects %j at %s', (filter, path) => {
    const { audience, problems } = compile(filter);
    expect(audience).toBeUndefined();
    expect(problems.map(([where]) => where)).toContain(path);
  });

  test('does not match a user whose texts exceed the evaluation budget', () => {
    const { audience } = compile({ tags: { $regex: 'x*y' } });
    const context = (tags: string[]) => {
      const profile = aProfile({ custom: { tags } });
      return { externalId: 'u', profile, campaigns: () => ({}), appId: '', appVersion: '', nowMs: NOW };
    };
    const inIt = (tags: string[]) => audience!.membership(context(tags));
    expect(inIt([...Array.from({ length: 400 }, (_, at) => `vip ${at}`), 'y'])).toBe('in');
    expect(inIt([...Array.from({ length: 10 }, () => 'x'.repeat(255)), 'y'])).toBe('in');
    const tooMany = [...Array.from({ length: 500 }, () => 'x'.repeat(255)), 'y'];
    expect(inIt(tooMany)).toBe('over_budget');
    expect(audience!.failingParts(context(tooMany)).map(({ path }) => path)).toEqual([['tags']]);
    const others = compile({ $nor: [{ tags: { $regex: 'x*y' } }] }).audience!;
    expect(others.membership(context(tooMany))).toBe('over_budget');
  });

  test('allows at most 1,000 conditions', () => {
    const filter = (count: number) => ({
      $or: Array.from({ length: count }, (_, at) => ({ [`a${at}`]: { $gt: at } })),
    });
    expect(compile(filter(499)).problems).toEqual([]);
    expect(compile(filter(500)).problems).toEqual([
      ['', 'expected at most 1000 conditions, those of its segments among them'],
    ]);
    expect(compile({ crm: { $in: Array.from({ length: 5_000 }, (_, at) => at) } }).problems).toEqual([]);
  });

  test('rejects unlimited nesting', () => {
    let filter: Record<string, unknown> = { tier: 'gold' };
    for (let depth = 0; depth < 100; depth += 1) filter = { $and: [filter] };
    expect(compile(filter).problems[0]?.[1]).toContain('levels deep');
  });

  test('reads only the fields in its filters, even for a user with many events', () => {
    const read: PropertyKey[] = [];
    const events = new Proxy(aProfile().events, {
      ownKeys: () => {
        throw new Error('all events were read');
      },
      get: (all, name) => {
        read.push(name);
        return Reflect.get(all, name);
      },
    });
    expect(isIn({ tier: 'gold' }, aProfile({ events }))).toBe(true);
    expect(read).toEqual([]);
    expect(isIn({ 'events.quiz_done.count': 3 }, aProfile({ events }))).toBe(true);
    expect(new Set(read)).toEqual(new Set(['quiz_done']));
  });

  test('ignores inherited object members', () => {
    expect(isIn({ 'events.constructor': { $exists: true } })).toBe(false);
    expect(isIn({ 'purchases.toString.count': { $exists: true } })).toBe(false);
  });
});

describe('versions', () => {
  const ordered = [
    '1.2.3-99',
    '1.2.3-alpha',
    '1.2.3-rc.1',
    '1.2.3-rc.2',
    '1.2.3-rc.10',
    '1.2.3',
    '1.2.4',
    '1.10',
    '9.0',
    '9.0.0.1',
    '10.0',
  ];
  const withVersion = (build: string) => aProfile({ custom: { build } });

  test('are compared number by number, with a pre-release before its release', () => {
    for (const [index, build] of ordered.entries()) {
      for (const [other, bound] of ordered.entries()) {
        const asked = [build, bound];
        expect(isIn({ build: { $vgt: bound } }, withVersion(build)), `${asked}`).toBe(index > other);
        expect(isIn({ build: { $vgte: bound } }, withVersion(build)), `${asked}`).toBe(index >= other);
        expect(isIn({ build: { $vlt: bound } }, withVersion(build)), `${asked}`).toBe(index < other);
        expect(isIn({ build: { $vlte: bound } }, withVersion(build)), `${asked}`).toBe(index <= other);
        expect(isIn({ build: { $veq: bound } }, withVersion(build)), `${asked}`).toBe(index === other);
      }
    }
  });

  test('ignore a leading v, trailing zeros and build metadata', () => {
    for (const build of ['10', 'v10.0', '10.0.0', '10.0.0+build.7']) {
      expect(isIn({ build: { $veq: '10.0' } }, withVersion(build)), build).toBe(true);
    }
  });

  test('are compared for one or any of several apps, and do not match users without the app', () => {
    expect(isIn({ app_version: { $vgte: '4.2' } })).toBe(true);
    expect(isIn({ app_version: { $vgte: '4.10' } })).toBe(false);
    expect(isIn({ builds: { $vgt: '9.0' } }, aProfile({ custom: { builds: ['8.1', '10.0'] } }))).toBe(true);
    expect(isIn({ build: { $vlt: '9.0' } }, aProfile({ custom: {} }))).toBe(false);
    expect(isIn({ build: { $not: { $vlt: '9.0' } } }, withVersion('10.0'))).toBe(true);
  });
});

test('ignores case in text comparisons', () => {
  const city = (text: unknown) => aProfile({ custom: { city: text } });
  expect(isIn({ city: { $ini: ['ŁÓDŹ', 'berlin'] } }, city('Łódź'))).toBe(true);
  expect(isIn({ city: { $ini: ['łódź'] } }, city(['Paris', 'ŁÓDŹ']))).toBe(true);
  expect(isIn({ city: { $ini: ['łódź', 7] } }, city(7))).toBe(true);
  expect(isIn({ city: { $ini: ['łódź'] } }, city('Lodz'))).toBe(false);
});
