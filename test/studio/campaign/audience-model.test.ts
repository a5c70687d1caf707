import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NON_ATTRIBUTE_FIELDS, readCampaign } from '../../../src/service/index.ts';
import { readAudience, writeAudience } from '../../../src/studio/campaign/audience-model.ts';
import type { AttributeOperator } from '../../../src/studio/campaign/conditions/attribute.ts';
import { type Condition, isUnknown } from '../../../src/studio/campaign/conditions/kinds.ts';
import { formatScalar, parseScalar } from '../../../src/studio/campaign/scalar-text.ts';
import { aCampaign } from '../../helpers/a-workspace.ts';

describe('the audience builder', () => {
  test('reads everyone as no condition, and writes no condition as everyone', () => {
    expect(readAudience(null)).toEqual({ match: 'all', conditions: [] });
    expect(readAudience({})).toEqual({ match: 'all', conditions: [] });
    expect(writeAudience({ match: 'any', conditions: [] })).toBeNull();
  });

  test.each([
    [{ tier: 'gold' }, { kind: 'attribute', name: 'tier', operator: 'is', value: 'gold' }],
    [{ orders: { $gte: 3 } }, { kind: 'attribute', name: 'orders', operator: 'at least', value: 3 }],
    [
      { tier: { $in: ['a', 1] } },
      { kind: 'attribute', name: 'tier', operator: 'is one of', value: ['a', 1] },
    ],
    [
      { email: { $exists: false } },
      { kind: 'attribute', name: 'email', operator: 'is not known', value: null },
    ],
    [
      { 'events.quiz.count': { $gte: 3 }, 'events.quiz.last_days_ago': { $lte: 30 } },
      { kind: 'event', name: 'quiz', atLeast: 3, withinDays: 30 },
    ],
    [
      { 'purchases.tea.count': { $exists: false } },
      { kind: 'purchase', name: 'tea', atLeast: 0, withinDays: null },
    ],
    [{ 'subscription_groups.g1': 'subscribed' }, { kind: 'group', id: 'g1', state: 'subscribed' }],
    [
      { 'campaigns.spring.impressions': { $exists: true } },
      { kind: 'campaign', id: 'spring', action: 'saw', hasDone: true, withinDays: null },
    ],
    [
      { 'campaigns.spring.last_conversion_days_ago': { $lte: 30 } },
      { kind: 'campaign', id: 'spring', action: 'converted in', hasDone: true, withinDays: 30 },
    ],
    [
      { 'campaigns.spring.last_dismissal_days_ago': { $not: { $lte: 7 } } },
      { kind: 'campaign', id: 'spring', action: 'dismissed', hasDone: false, withinDays: 7 },
    ],
    [{ app_id: { $in: ['web'] } }, { kind: 'app', ids: ['web'] }],
  ] as const)('reads %j as a condition, and writes it back unchanged', (filter, condition) => {
    expect(readAudience(filter)).toEqual({ match: 'all', conditions: [condition] });
    expect(writeAudience({ match: 'all', conditions: [condition as Condition] })).toEqual(filter);
  });

  test.each([
    ['tier', false],
    ['teir', true],
    ['home_city', true],
    ['braze_id', false],
    ['app_version', false],
    ['address.city', false],
  ])('reports the attribute %s as unknown: %j', (name, expected) => {
    const names = {
      fields: NON_ATTRIBUTE_FIELDS,
      attributes: [{ name: 'tier', values: [] }],
      events: [],
      products: [],
    };
    expect(isUnknown({ kind: 'attribute', name, operator: 'is', value: 'a' }, names)).toBe(expected);
  });

  test('keeps two conditions on one attribute separate', () => {
    const filter = { $and: [{ age: { $gte: 18 } }, { age: { $lt: 65 } }] };
    expect(writeAudience(readAudience(filter)!)).toEqual(filter);
  });

  test.each([
    { tier: { $regex: '^g' } },
    { $nor: [{ tier: 'gold' }] },
    { $or: [{ a: 1, b: 2 }] },
    { $or: [{ a: 1 }], tier: 'gold' },
    { $and: [{ $or: [{ a: 1 }] }] },
    { age: { $gte: 18, $lt: 65 } },
    { 'events.quiz.count': { $lte: 3 } },
    { 'events.quiz.first_days_ago': { $lte: 3 } },
    { 'events.quiz': { $exists: true } },
    { event_list: { $elemMatch: { name: 'a.b' } } },
    { tier: null },
    { tags: ['a'] },
  ])('reads no conditions from %j, and reports it instead of losing a part', (filter) => {
    expect(readAudience(filter)).toBeNull();
  });

  const name = fc
    .stringMatching(/^[a-z][a-z_]{0,8}$/)
    .filter((each) => !['events', 'purchases', 'app_id'].includes(each));
  const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean());
  const condition: fc.Arbitrary<Condition> = fc.oneof(
    fc.record({
      kind: fc.constant('attribute' as const),
      name,
      operator: fc.constantFrom<AttributeOperator>(
        'is',
        'is not',
        'more than',
        'at least',
        'less than',
        'at most',
      ),
      value: scalar,
    }),
    fc.record({
      kind: fc.constantFrom('event' as const, 'purchase' as const),
      name,
      atLeast: fc.integer({ min: 1, max: 9 }),
      withinDays: fc.option(fc.integer({ min: 1, max: 99 })),
    }),
    fc.record({ kind: fc.constant('group' as const), id: name, state: fc.constant('subscribed' as const) }),
  );

  test('reads back every audience that it wrote', () => {
    const model = fc.record({
      match: fc.constantFrom('all' as const, 'any' as const),
      conditions: fc.array(condition, { minLength: 2, maxLength: 5 }),
    });
    fc.assert(
      fc.property(model, (written) => {
        const filter = writeAudience(written);
        const read = readAudience(filter)!;
        expect(writeAudience(read)).toEqual(filter);
        expect(read.match).toBe(written.match);
        expect(read.conditions).toHaveLength(written.conditions.length);
      }),
    );
  });
});

test('writes an invalid attribute unchanged, and not as everyone', () => {
  const condition = { kind: 'attribute', name: '__proto__', operator: 'is', value: 'x' } as const;
  const filter = writeAudience({ match: 'all', conditions: [condition] });
  expect(JSON.stringify(filter)).toBe('{"__proto__":"x"}');
  const { problems } = readCampaign(JSON.parse(JSON.stringify(aCampaign({ audience: filter }))), {});
  expect(problems).toMatchObject([{ path: ['audience', '__proto__'] }]);
});

describe('a typed value', () => {
  test.each([
    ['gold', 'gold'],
    ['7', 7],
    ['-1.5', -1.5],
    ['true', true],
    ['"7"', '7'],
    ['1e3', '1e3'],
    [' padded ', 'padded'],
  ])('%j is parsed as %j', (typed, value) => expect(parseScalar(typed)).toBe(value));

  test('is shown as the operator would type it', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.integer(), fc.boolean()), (value) => {
        fc.pre(typeof value !== 'string' || value.trim() === value);
        expect(parseScalar(formatScalar(value))).toBe(value);
      }),
    );
  });
});
