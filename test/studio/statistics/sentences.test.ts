import { describe, expect, test } from 'vitest';
import { NO_COUNTS } from '../../../src/protocol/index.ts';
import type { CampaignResults } from '../../../src/service/index.ts';
import type { CampaignJson } from '../../../src/studio/campaign/campaign-json.ts';
import { compareResults } from '../../../src/studio/statistics/compare.ts';
import { findLeader, formatInterval, headline } from '../../../src/studio/statistics/sentences.ts';

const NOW = Date.parse('2026-03-06T18:00:00Z');
const OVER = { ends_at: '2026-03-06T17:00:00Z' };

const aCampaign = (changes: Partial<CampaignJson> = {}): CampaignJson => ({
  campaign_id: 'sale',
  status: 'active',
  placements: ['home'],
  variants: [
    { variant_id: 'a', name: 'A', properties: {} },
    { variant_id: 'b', name: 'B', properties: {} },
  ],
  ...changes,
});

const arm = (variantId: string | null, exposed: number, clicked: number, converted: number[] = []) => ({
  ...NO_COUNTS,
  variantId,
  exposed,
  impressions: exposed,
  clicks: clicked,
  clicked,
  goals: converted.map((each) => ({ converted: each, revenue: each * 10, revenueSumOfSquares: each * 100 })),
});

const counts = (...arms: CampaignResults['arms']) => ({ arms, currencies: ['EUR'] });

/** The first sentence, and the numbers behind it. */
const said = (campaign: CampaignJson, of: ReturnType<typeof counts>) => {
  const { sentence, details } = headline(campaign, compareResults(campaign, of), NOW);
  return [sentence, ...details];
};

describe('the headline of the results', () => {
  test('reports that there are no impressions yet', () => {
    expect(said(aCampaign(), counts())).toEqual(['No impressions yet.']);
  });

  test('does not declare a winner before the planned end, even if the difference is large', () => {
    const clear = counts(arm('a', 5_000, 500), arm('b', 5_000, 1_500));
    expect(said(aCampaign({ ends_at: '2026-03-07T00:00:00Z' }), clear)).toEqual([
      'Not enough data yet.',
      '10,000 users have seen it, and it has not ended.',
    ]);
    expect(said(aCampaign({ target_sample_size: 20_000 }), clear)).toEqual([
      'Not enough data yet.',
      '10,000 users of the planned 20,000 have seen it.',
    ]);
    expect(said(aCampaign(), clear).at(-1)).toMatch(/Set an end or a target sample size/);
  });

  test('reports the winner at the planned end, with the interval', () => {
    const [words, ...details] = said(aCampaign(OVER), counts(arm('a', 3_000, 300), arm('b', 3_000, 510)));
    expect(words).toBe('B beats A in clicks.');
    expect(details).toEqual([
      expect.stringMatching(/^B beats A by \d\.\d to 1?\d\.\d percentage points in clicks\.$/),
    ]);
  });

  test('reports the winner once the planned number of users saw the campaign', () => {
    expect(
      said(aCampaign({ target_sample_size: 6_000 }), counts(arm('a', 3_000, 510), arm('b', 3_000, 300))),
    ).toContain('A beats B in clicks.');
  });

  test('counts users without the control group against the plan, like the campaign list', () => {
    const campaign = aCampaign({
      target_sample_size: 6_000,
      control_percentage: 10,
      ends_at: '2026-03-07T00:00:00Z',
    });
    const of = counts(arm('a', 2_900, 510), arm('b', 2_900, 300), arm(null, 640, 0));
    expect(said(campaign, of)).toEqual([
      'Not enough data yet.',
      '5,800 users of the planned 6,000 have seen it.',
    ]);
  });

  test('does not declare a winner if the test ended before the planned number of users saw it', () => {
    const of = counts(arm('a', 400, 40), arm('b', 400, 140));
    expect(said(aCampaign({ target_sample_size: 6_000, ...OVER }), of)).toEqual([
      'Not enough users for a winner.',
      'It ended. 800 users of the planned 6,000 have seen it.',
    ]);
  });

  test('reports the winner on the goal, among the variants and against the control group', () => {
    const campaign = aCampaign({
      ...OVER,
      control_percentage: 10,
      conversions: [{ product: 'teapot', within_hours: 168 }],
    });
    // B has fewer clicks and more purchases.
    const of = counts(arm('a', 5_000, 900, [250]), arm('b', 5_000, 500, [700]), arm(null, 2_000, 0, [90]));
    expect(said(campaign, of)).toEqual([
      'B beats A in purchases of “teapot”; B beats the control group in purchases of “teapot”.',
      expect.stringMatching(/^B beats A by \d+\.\d to 1\d\.\d percentage points in purchases of “teapot”\.$/),
      expect.stringMatching(/^B beats the control group by .* in purchases of “teapot”\.$/),
      'Purchases of “teapot” of A against the control group: undecided, 7,000 users.',
    ]);
  });

  test('reports an undecided result and its sample size, and too few users as in the table of differences', () => {
    const campaign = aCampaign({
      ...OVER,
      control_percentage: 10,
      conversions: [{ product: 'teapot', within_hours: 168 }],
    });
    const of = counts(arm('a', 25, 3, [1]), arm('b', 25, 4, [2]), arm(null, 5, 0, [0]));
    expect(said(campaign, of)).toEqual([
      'Not enough users for a winner.',
      'Purchases of “teapot” of B against A: undecided, 50 users.',
      'Purchases of “teapot” against the control group: undecided, 55 users.',
    ]);
    expect(said(aCampaign(OVER), counts(arm('a', 3_000, 300), arm('b', 3_000, 310)))).toEqual([
      'No significant difference.',
      'Clicks of B against A: undecided, 6,000 users.',
    ]);
  });

  test('requests a second variant or a control group if there is none', () => {
    const alone = aCampaign({ variants: [{ variant_id: 'a', properties: {} }] });
    expect(said(alone, counts(arm('a', 200, 15)))).toEqual([
      '200 users saw it, 7.5% clicked.',
      'Nothing to compare. Add a variant, or a control group and a goal.',
    ]);
  });

  test('requests a goal if there is a control group, with or without impressions', () => {
    const alone = aCampaign({ variants: [{ variant_id: 'a', properties: {} }], control_percentage: 10 });
    const words = [
      '200 users saw it, 7.5% clicked.',
      'The control group has no clicks. Add a goal to compare it.',
    ];
    expect(said(alone, counts(arm('a', 200, 15)))).toEqual(words);
    expect(said(alone, counts(arm('a', 200, 15), arm(null, 20, 0)))).toEqual(words);
  });
});

describe('a comparison', () => {
  const campaign = aCampaign({
    control_percentage: 10,
    conversions: [{ product: 'teapot', within_hours: 168 }],
  });
  const of = counts(arm('a', 900, 90, [60]), arm('b', 900, 120, [120]), arm(null, 200, 0, [10]));
  const { comparisons, arms } = compareResults(campaign, of);

  test('compares clicks with the first variant, and goals and revenue with the control group as well', () => {
    expect(
      comparisons.map(({ metric, treatment, baseline }) => [
        metric,
        arms[treatment]!.name,
        arms[baseline]!.name,
      ]),
    ).toEqual([
      ['click', 'B', 'A'],
      ['goal 0', 'B', 'A'],
      ['goal 0', 'A', 'Control'],
      ['goal 0', 'B', 'Control'],
      ['revenue 0', 'B', 'A'],
      ['revenue 0', 'A', 'Control'],
      ['revenue 0', 'B', 'Control'],
    ]);
  });

  test('has no interval for too few users', () => {
    const few = compareResults(campaign, counts(arm('a', 20, 4, [0]), arm('b', 20, 5, [0])));
    expect(few.comparisons.every(({ difference }) => difference === null)).toBe(true);
    expect(formatInterval(few.comparisons[0]!)).toBe('not enough users');
    // Many users, but only four buyers in one group.
    const bought = compareResults(campaign, counts(arm('a', 900, 90, [4]), arm('b', 900, 120, [90])));
    expect(bought.comparisons.map(({ metric, difference }) => [metric, difference === null])).toEqual([
      ['click', false],
      ...bought.comparisons.slice(1).map(({ metric }) => [metric, true]),
    ]);
  });

  test('formats its interval', () => {
    expect(formatInterval(comparisons[0]!)).toMatch(/^−\d\.\d to \+\d\.\d percentage points$/);
    expect(formatInterval(comparisons[3]!)).toMatch(/^\+\d\.\d to \+1\d\.\d percentage points$/);
    expect(formatInterval(comparisons[6]!)).toMatch(/^[−+]\d\.\d\d to \+\d\.\d\d$/);
  });

  test('includes the lift as the difference relative to the other rate', () => {
    expect(comparisons[0]!.lift).toBeCloseTo(1 / 3, 10);
    expect(comparisons[3]!.lift).toBeCloseTo(120 / 900 / (10 / 200) - 1, 10);
    const none = compareResults(aCampaign(), counts(arm('a', 90, 0), arm('b', 90, 12)));
    expect(none.comparisons[0]!.lift).toBeNull();
  });

  test('omits revenue in several currencies', () => {
    const mixed = compareResults(campaign, { ...of, currencies: ['EUR', 'USD'] });
    expect(mixed.comparisons.some(({ unit }) => unit === 'money')).toBe(false);
  });

  test('is wider with more variants, because they share the error rate', () => {
    const three = aCampaign({ variants: ['a', 'b', 'c'].map((id) => ({ variant_id: id, properties: {} })) });
    const width = (of_: ReturnType<typeof compareResults>) => {
      const { low, high } = of_.comparisons[0]!.difference!;
      return high - low;
    };
    const two = compareResults(aCampaign(), counts(arm('a', 900, 90), arm('b', 900, 120)));
    const all = compareResults(three, counts(arm('a', 900, 90), arm('b', 900, 120), arm('c', 900, 100)));
    expect(width(all)).toBeGreaterThan(width(two));
  });

  test('keeps a removed variant, and warns about a sample ratio mismatch', () => {
    const gone = compareResults(
      aCampaign(),
      counts(arm('a', 9_000, 1), arm('b', 3_000, 1), arm('old', 10, 1)),
    );
    expect(gone.arms.map(({ name }) => name)).toEqual(['A', 'B', 'old (removed)']);
    expect(gone.ratio?.isSuspicious).toBe(true);
    expect(compareResults(campaign, of).ratio?.isSuspicious).toBe(false);
  });

  test('keeps the name and the position of a removed variant, and does not check the ratio after a split change', () => {
    const before = aCampaign({ control_percentage: 10 });
    const [, b] = before.variants;
    const after = { ...before, variants: [b!] };
    const seen = counts(arm('b', 5_000, 500), arm('a', 2_500, 250), arm(null, 280, 0));
    const { arms, comparisons, ratio, isRedivided } = compareResults(after, seen, [before, after]);
    expect(arms.map(({ name }) => name)).toEqual(['A (removed)', 'B', 'Control']);
    expect(comparisons.map(({ treatment, baseline }) => [treatment, baseline])).toContainEqual([1, 0]);
    expect([ratio, isRedivided]).toEqual([null, true]);
    expect(compareResults(before, seen, [before]).isRedivided).toBe(false);
  });
});

describe('the leading variant', () => {
  const getLeader = (...arms: CampaignResults['arms']) =>
    findLeader(
      compareResults(aCampaign({ conversions: [{ event: 'signup', within_hours: 24 }] }), counts(...arms)),
    );

  test('is the better one in the first goal, whatever the clicks', () => {
    expect(getLeader(arm('a', 3_000, 900, [300]), arm('b', 3_000, 300, [510]))).toBe('b');
    expect(getLeader(arm('a', 3_000, 300, [510]), arm('b', 3_000, 900, [300]))).toBe('a');
  });

  test('is unknown without a significant difference', () => {
    expect(getLeader(arm('a', 3_000, 300, [300]), arm('b', 3_000, 510, [305]))).toBeNull();
  });
});
