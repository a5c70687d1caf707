import { expect, test } from 'vitest';
import { createBannerIds } from '../../../src/service/campaigns/banner-id.ts';
import type { DecisionRequest, TraceEntry } from '../../../src/service/campaigns/decision.ts';
import { selectBanners } from '../../../src/service/campaigns/select-banners.ts';
import { explain } from '../../../src/service/explain/explain.ts';
import { silentLog } from '../../../src/service/log.ts';
import { noLastTimes, zeroCounts } from '../../../src/service/measures.ts';
import { createProfile } from '../../../src/service/profiles/profile.ts';
import { parseWorkspace } from '../../../src/service/workspace/parse-workspace.ts';
import { APP_ID, aVariant, aWorkspace } from '../../helpers/a-workspace.ts';
import fc from '../../helpers/property.ts';

const NOW = Date.parse('2026-03-01T09:00:00Z');
const PLACEMENTS = ['home', 'side'];

const tier = fc.constantFrom('gold', 'silver', 7, null);
const audience = fc.oneof(
  fc.constant(null),
  fc.record({ tier: fc.oneof(tier, fc.record({ $ne: tier }), fc.record({ $in: fc.array(tier) })) }),
  fc.record({ $and: fc.array(fc.record({ tier }), { minLength: 1, maxLength: 2 }) }),
  fc.record({
    $or: fc.array(fc.record({ tier }), { minLength: 1, maxLength: 2 }),
    country: fc.constant('PL'),
  }),
  fc.record({ visits: fc.record({ $gte: fc.integer({ min: 0, max: 4 }) }) }),
);
const campaign = fc.record({
  status: fc.constantFrom('active', 'active', 'active', 'draft', 'stopped'),
  placements: fc.subarray(PLACEMENTS, { minLength: 1 }),
  priority: fc.constantFrom('high', 'medium', 'low'),
  starts_at: fc.constantFrom(null, null, '2026-02-01T00:00:00Z', '2026-04-01T00:00:00Z'),
  control_percentage: fc.constantFrom(0, 50, 100),
  reeligible_after_hours: fc.constantFrom(null, 1, 1_000),
  test_users: fc.constantFrom(null, null, ['u-771']),
  audience,
  tags: fc.constantFrom(null, ['promo']),
  frequency: fc.constantFrom(null, { impressions: { max: 1, days: 1 } }, { stop_after: { impressions: 1 } }),
  variants: fc.constantFrom(
    [aVariant()],
    [aVariant(), aVariant({ variant_id: 'b' })],
    [aVariant({ properties: { points: { type: 'number', value: '{{custom_attribute.visits}}' } } })],
  ),
});
const user = fc.record({
  tier: fc.option(tier, { nil: undefined }),
  visits: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
  dismissed: fc.uniqueArray(fc.integer({ min: 0, max: 7 })),
});

const getQuestion = (
  campaigns: Record<string, unknown>[],
  { dismissed, ...custom }: { tier?: unknown; visits?: unknown; dismissed: number[] },
): DecisionRequest => ({
  workspace: parseWorkspace(
    aWorkspace({
      campaigns: campaigns.map((each, index) => ({ campaign_id: `c${index}`, ...each })),
      tag_caps: [{ tag: 'promo', campaigns_per_day: 1, exempt: ['c3'] }],
    }),
  ),
  externalUserId: 'u-771',
  user: {
    profile: createProfile({
      userId: 1,
      externalId: 'u-771',
      standard: { country: 'PL' },
      custom: Object.fromEntries(Object.entries(custom).filter(([, value]) => value !== undefined)),
      createdAtMs: NOW,
      updatedAtMs: NOW,
    }),
    campaigns: dismissed.map((index) => ({
      campaignId: `c${index}`,
      variantId: 'a',
      isControl: false,
      ...zeroCounts(),
      ...noLastTimes(),
      impressions: 1,
      firstImpressionMs: NOW - 7_300_000,
      lastImpressionMs: NOW - 7_300_000,
      dismissals: 1,
      lastDismissalMs: NOW - 7_200_000,
      round: 1,
    })),
    impressions: dismissed.map((index) => ({ campaignId: `c${index}`, timeMs: NOW - 7_300_000 })),
  },
  appId: APP_ID,
  appVersion: '1',
  acceptLanguage: '',
  deviceId: undefined,
  placementIds: PLACEMENTS,
  now: NOW,
  ids: createBannerIds('test', 'secret'),
  log: silentLog,
  logRenderError: () => undefined,
});

const someCampaigns = fc.array(campaign, { maxLength: 8 });

test('makes the same decision with and without a trace', () => {
  fc.assert(
    fc.property(someCampaigns, user, (campaigns, facts) => {
      const question = getQuestion(campaigns, facts);
      const entries: TraceEntry[] = [];
      expect(selectBanners({ ...question, trace: (entry) => entries.push(entry) })).toBe(
        selectBanners(question),
      );
    }),
    { numRuns: 500 },
  );
});

test('explains each campaign of a placement once, and the synced one as shown or held out', () => {
  fc.assert(
    fc.property(someCampaigns, user, (campaigns, facts) => {
      const question = getQuestion(campaigns, facts);
      const answer = JSON.parse(selectBanners(question));
      const explained = explain(question);
      for (const placementId of PLACEMENTS) {
        const named = explained[placementId]!;
        const expected = campaigns.flatMap(({ placements }, index) =>
          placements.includes(placementId) ? [`c${index}`] : [],
        );
        expect(named.map(({ campaign_id }) => campaign_id).sort()).toEqual(expected);
        const winners = named.filter(({ outcome }) => outcome === 'shown' || outcome === 'held_out');
        const answered = answer[placementId];
        expect(winners).toHaveLength(answered ? 1 : 0);
        if (!answered) continue;
        expect(winners[0]).toMatchObject({
          banner_id: answered.id,
          outcome: answered.is_control ? 'held_out' : 'shown',
        });
        for (const each of named) {
          if (each.outcome === 'outranked') expect(each.winning_campaign_id).toBe(winners[0]?.campaign_id);
        }
      }
    }),
    { numRuns: 500 },
  );
});

test('reports at least one failed clause for a user outside the audience', () => {
  fc.assert(
    fc.property(someCampaigns, user, (campaigns, facts) => {
      const explained = explain(getQuestion(campaigns, facts));
      for (const each of Object.values(explained).flat()) {
        if (each.outcome === 'not_in_audience') expect(each.clauses.length).toBeGreaterThan(0);
      }
    }),
    { numRuns: 500 },
  );
});
