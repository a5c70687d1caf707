import sift from 'sift';
import { describe, expect, test } from 'vitest';
import { compileAudience, type Filter } from '../../../src/service/campaigns/audience/audience.ts';
import {
  ACTIVITY_MEMBERS,
  type AudienceContext,
  FIELD_NAMES,
  locate,
} from '../../../src/service/campaigns/audience/fields.ts';
import { createBannerIds } from '../../../src/service/campaigns/banner-id.ts';
import type { DecisionRequest } from '../../../src/service/campaigns/decision.ts';
import { countReach } from '../../../src/service/campaigns/reach.ts';
import { selectBanners } from '../../../src/service/campaigns/select-banners.ts';
import { explain } from '../../../src/service/explain/explain.ts';
import { silentLog } from '../../../src/service/log.ts';
import { noLastTimes, zeroCounts } from '../../../src/service/measures.ts';
import { createProfile, type Profile } from '../../../src/service/profiles/profile.ts';
import { STANDARD_NAMES } from '../../../src/service/users/check-standard.ts';
import { parseWorkspace } from '../../../src/service/workspace/parse-workspace.ts';
import { aCampaign, aWorkspace } from '../../helpers/a-workspace.ts';
import fc, { times } from '../../helpers/property.ts';

const NOW = Date.parse('2026-03-01T09:00:00Z');
const DAY = 24 * 60 * 60 * 1000;

const scalar = fc.constantFrom<unknown>(
  'gold',
  'silver',
  'PL',
  '',
  '1',
  0,
  1,
  1.5,
  -1,
  3,
  84,
  true,
  false,
  null,
);
const value = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('a', 'b'), scalar, { noNullPrototype: true }),
  fc.array(fc.dictionary(fc.constantFrom('a', 'b'), scalar, { noNullPrototype: true }), { maxLength: 2 }),
);

const profile = fc
  .record({
    custom: fc.dictionary(fc.constantFrom('tier', 'x', 'constructor'), value, { noNullPrototype: true }),
    standard: fc.dictionary(fc.constantFrom('country', 'language', 'facebook'), value, {
      noNullPrototype: true,
    }),
    email: fc.constantFrom('gold', null),
  })
  .map(
    (members): Profile =>
      createProfile({
        userId: 771,
        externalId: 'u-771',
        subscriptionGroups: { a: { state: 'subscribed' } },
        events: { a: { count: 3, first: NOW - 40 * DAY, last: NOW - 2 * DAY } },
        purchases: { a: { count: 2, first: NOW - 90 * DAY, last: NOW - 10 * DAY, revenue: 84 } },
        createdAtMs: NOW,
        updatedAtMs: NOW,
        ...members,
      }),
  );
const context = fc.option(profile, { freq: 9 }).map(
  (known): AudienceContext => ({
    externalId: 'u-771',
    profile: known,
    campaigns: () => ({}),
    appId: '',
    appVersion: '',
    nowMs: NOW,
  }),
);

const bare = { noNullPrototype: true } as const;
const some = fc.array(scalar, { maxLength: 3 });
const operators = fc.record(
  {
    $eq: value,
    $ne: value,
    $in: some,
    $nin: some,
    $gt: scalar,
    $gte: scalar,
    $lt: scalar,
    $lte: scalar,
    $exists: fc.boolean(),
    $all: fc.array(scalar, { minLength: 1, maxLength: 2 }),
    $size: fc.nat(2),
    $regex: fc.constantFrom('^g', 'l*d$', 'L'),
    $not: fc.record({ $in: some }, bare),
    $elemMatch: fc.oneof(
      fc.record({ a: scalar }, bare),
      fc.record({ $gte: scalar }, bare),
      fc.record({ $or: fc.array(fc.record({ b: scalar }, bare), { minLength: 1, maxLength: 2 }) }, bare),
    ),
  },
  { requiredKeys: [], ...bare },
);
/** One or two conditions that a user may match. No user matches all of them. */
const condition = fc.oneof(
  value,
  operators.map((all) => Object.fromEntries(Object.entries(all).slice(0, 2))),
  fc
    .tuple(operators, fc.nat(20))
    .map(([all, at]) =>
      Object.fromEntries([Object.entries(all).at(at % Object.keys(all).length || 0) ?? ['$exists', true]]),
    ),
);
const path = fc.oneof(
  fc.constantFrom(
    'tier',
    'x',
    'x.a',
    'x.b',
    'x.0',
    'x.0.a',
    'constructor',
    'nothing',
    'custom_attributes.x.a',
  ),
  fc.constantFrom(...FIELD_NAMES),
  fc.tuple(fc.constantFrom(...FIELD_NAMES), fc.constantFrom('a', 'b')).map((steps) => steps.join('.')),
  fc
    .tuple(
      fc.constantFrom('events', 'purchases'),
      fc.constantFrom('a', 'b'),
      fc.constantFrom(...ACTIVITY_MEMBERS),
    )
    .map((steps) => steps.join('.')),
);
const isSound = (filter: Filter) => compileAudience(filter, () => undefined) !== undefined;
const leaf = fc.dictionary(path, condition, { minKeys: 1, maxKeys: 2, ...bare }).filter(isSound);
const leaves = fc.array(leaf, { minLength: 1, maxLength: 3 });
const filter: fc.Arbitrary<Filter> = fc.oneof(
  leaf,
  fc.record({ $and: leaves }, bare),
  fc.record({ $or: leaves }, bare),
  fc.record({ $nor: leaves, tier: condition }, bare).filter(isSound),
  leaf.map(($not) => ({ $not })),
);

const compiled = (asked: Filter) =>
  compileAudience(asked, (where, problem) => {
    throw new Error(`${where.join('.')}: ${problem.message}`);
  })!;

test.each(FIELD_NAMES)('%s matches a user who has it', (name) => {
  const who: AudienceContext = {
    externalId: 'u-771',
    profile: createProfile({
      userId: 771,
      externalId: 'u-771',
      email: 'kim@example.org',
      phone: '+48',
      aliases: [{ alias_name: 'kim', alias_label: 'crm' }],
      standard: Object.fromEntries(STANDARD_NAMES.map((each) => [each, 'held'])),
      custom: { tier: 'gold' },
      subscriptionGroups: { a: { state: 'subscribed' } },
      events: { a: { count: 3, first: NOW, last: NOW } },
      purchases: { a: { count: 2, first: NOW, last: NOW, revenue: 84 } },
      createdAtMs: NOW,
      updatedAtMs: NOW,
    }),
    campaigns: () => ({
      a: {
        ...zeroCounts(),
        ...noLastTimes(),
        impressions: 2,
        lastImpressionMs: NOW,
        clicks: 1,
        lastClickMs: NOW,
        dismissals: 1,
        lastDismissalMs: NOW,
        reachedMs: [NOW],
      },
    }),
    appId: 'app',
    appVersion: '4.2.0',
    nowMs: NOW,
  };
  expect(compiled({ [name]: { $exists: true, $nin: [null, {}, []] } }).membership(who)).toBe('in');
});

describe('an audience', () => {
  test('has the same result in serving, reach and explain', async () => {
    const seen = { in: 0, out: 0 };
    await fc.assert(
      fc.asyncProperty(filter, context, async (audience, who) => {
        const workspace = parseWorkspace(aWorkspace({ campaigns: [aCampaign({ audience })] }));
        const [campaign] = workspace.campaigns;
        const user = { profile: who.profile, campaigns: [], impressions: [] };
        const question: DecisionRequest = {
          workspace,
          externalUserId: who.externalId,
          user,
          appId: who.appId,
          appVersion: who.appVersion,
          acceptLanguage: '',
          deviceId: undefined,
          placementIds: ['home'],
          now: NOW,
          ids: createBannerIds('test', 'secret'),
          log: silentLog,
          logRenderError: () => undefined,
        };
        const isServed = JSON.parse(selectBanners(question)).home !== null;
        seen[isServed ? 'in' : 'out'] += 1;
        const sample = {
          total: 1,
          users: [{ externalId: who.externalId, profile: who.profile, campaigns: [] }],
        };
        const reach = await countReach({ sample, workspace, campaign: campaign!, now: NOW, clock: () => 0 });
        expect(reach!.users).toBe(isServed ? 1 : 0);
        const [explained] = explain(question)['home']!;
        expect(explained!.outcome).toBe(isServed ? 'shown' : 'not_in_audience');
        if (explained!.outcome === 'not_in_audience') {
          expect(explained!.clauses.length).toBeGreaterThan(0);
        }
      }),
      { numRuns: times(500) },
    );
    expect(Math.min(seen.in, seen.out)).toBeGreaterThan(50);
  });

  test('matches the documents that sift matches', () => {
    const library = sift as unknown as typeof import('sift').default;
    const inDocument = (asked: Filter): Filter =>
      Object.fromEntries(
        Object.entries(asked).map(([name, inner]) => {
          if (name.startsWith('$')) {
            return [name, Array.isArray(inner) ? inner.map(inDocument) : inDocument(inner as Filter)];
          }
          return [FIELD_NAMES.includes(name.split('.')[0]!) ? name : `custom_attributes.${name}`, inner];
        }),
      );
    const seen = { in: 0, out: 0 };
    fc.assert(
      fc.property(filter, context, (asked, who) => {
        const fields = FIELD_NAMES.map((name) => {
          const located = locate(name);
          if (typeof located === 'string') throw new Error(located);
          return [name, located.read(who)] as const;
        });
        const document = Object.fromEntries(fields.filter(([, held]) => held !== undefined));
        const isIn = compiled(asked).membership(who) === 'in';
        seen[isIn ? 'in' : 'out'] += 1;
        expect(isIn).toBe(library(inDocument(asked))(document));
      }),
      { numRuns: times(5_000) },
    );
    expect(Math.min(seen.in, seen.out)).toBeGreaterThan(500);
  });
});
