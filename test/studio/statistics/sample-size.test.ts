import { describe, expect, test } from 'vitest';
import { NO_COUNTS } from '../../../src/protocol/index.ts';
import type { CampaignJson } from '../../../src/studio/campaign/campaign-json.ts';
import { compareResults } from '../../../src/studio/statistics/compare.ts';
import { requiredSampleSize } from '../../../src/studio/statistics/sample-size.ts';

const aCampaign = (changes: Partial<CampaignJson> = {}): CampaignJson => ({
  campaign_id: 'sale',
  status: 'active',
  placements: ['home'],
  variants: ['a', 'b'].map((variant_id) => ({ variant_id, properties: {} })),
  ...changes,
});

/** Deterministic numbers from 0 to 1. */
const createRandom = () => {
  let state = 20_260_302;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

/** Approximate number of `n` users who convert at this rate (normal approximation). */
const doneBy = (n: number, chance: number, random: () => number): number => {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.round(n * chance + normal * Math.sqrt(n * chance * (1 - chance)));
};

describe('the sample size of a comparison', () => {
  test.each([
    [0.05, 0.2, 2],
    [0.1, 0.1, 2],
    [0.02, 0.5, 3],
    [0.05, 0.2, 10],
  ])('detects a rate of %d with a lift of %d among %d variants in 80% of runs', (rate, lift, count) => {
    const variants = [...'abcdefghij'].slice(0, count).map((variant_id) => ({ variant_id, properties: {} }));
    const planned = requiredSampleSize(aCampaign({ variants }), rate, lift)!;
    const campaign = aCampaign({ variants, target_sample_size: planned });
    const random = createRandom();
    const n = Math.round(planned / count);
    const arm = (variantId: string, chance: number) => {
      const clicked = doneBy(n, chance, random);
      return {
        ...NO_COUNTS,
        variantId,
        exposed: n,
        impressions: n,
        clicks: clicked,
        clicked,
        goals: [],
      };
    };
    const ROUNDS = 2_000;
    let found = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const arms = variants.map(({ variant_id }, at) => arm(variant_id, at === 1 ? rate * (1 + lift) : rate));
      const { comparisons } = compareResults(campaign, { arms, currencies: [] });
      if (comparisons[0]!.difference!.low > 0) found += 1;
    }
    expect(found / ROUNDS).toBeGreaterThan(0.77);
    expect(found / ROUNDS).toBeLessThan(0.83);
  });

  test('is larger if the smaller control group is compared on a goal', () => {
    const goal = { conversions: [{ event: 'order', within_hours: 24 }] };
    const alone = aCampaign({
      variants: [{ variant_id: 'a', properties: {} }],
      control_percentage: 10,
      ...goal,
    });
    expect(requiredSampleSize(alone, 0.05, 0.2)).toBeGreaterThan(requiredSampleSize(aCampaign(), 0.05, 0.2)!);
  });

  test('is null without a comparison or for an invalid rate', () => {
    expect(
      requiredSampleSize(aCampaign({ variants: [{ variant_id: 'a', properties: {} }] }), 0.05, 0.2),
    ).toBeNull();
    for (const [rate, lift] of [
      [0, 0.2],
      [1, 0.2],
      [0.5, 1],
      [0.5, 0],
      [Number.NaN, 1],
    ] as const) {
      expect(requiredSampleSize(aCampaign(), rate, lift)).toBeNull();
    }
  });
});
