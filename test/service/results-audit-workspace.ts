// The workspace of the results audit, its edits and its events.
import fc from '../helpers/property.ts';
import { aStudioWorkspace } from '../helpers/running-studio.ts';
import { type CampaignSpec, type EventType, type GoalSpec, HOUR } from './results-audit-model.ts';

/** Three days before daylight saving time starts in Berlin. */
export const START = Date.UTC(2026, 2, 26, 12);
export const HOLDOUT_STARTS = START + 12 * HOUR;
export const HOLDOUT = 25;
export const USERS = ['u0', 'u1', 'u2', 'u3', 'u4', 'u5'];
const PLACEMENTS = ['home', 'side', 'foot'];
export const HOLDOUT_GOALS: GoalSpec[] = [{ product: 'cup', within_hours: 48 }];

const text = (value: string) => ({ type: 'string', value });
const aVariant = (campaign: string, variant_id: string, more: object = {}) => ({
  variant_id,
  weight: 1,
  properties: { c: text(campaign), v: text(variant_id) },
  ...more,
});

/** Current state of the workspace file. Edits change each member. */
export interface File {
  weight: number;
  hasThird: boolean;
  goals: number;
  hasSale: boolean;
  vip: 'gold' | 'silver';
}
const GOALS: GoalSpec[] = [
  { event: 'asked', within_hours: 48 },
  { product: 'cup', within_hours: 72 },
  { event: 'signed_up', within_hours: 30 },
];

export const getCampaigns = ({ weight, hasThird, goals, hasSale }: File): CampaignSpec[] => [
  ...(hasSale
    ? [
        {
          campaign_id: 'sale',
          priority: 'high' as const,
          placements: ['home', 'side'],
          audience: { $segment: 'vip' },
          control_percentage: 30,
          reeligible_after_hours: 6,
          language: 'en',
          conversions: GOALS.filter((_, index) => goals & (1 << index)),
          variants: [
            aVariant('sale', 'a', {
              weight,
              translations: { pt: { v: 'a' }, 'pt-BR': { v: 'a' } },
              on_click: { event: 'asked', attributes: { wants: true } },
            }),
            aVariant('sale', 'b', { translations: { de: { v: 'b' } } }),
          ],
        },
      ]
    : []),
  {
    campaign_id: 'daily',
    placements: PLACEMENTS,
    control_percentage: 20,
    tags: ['promo'],
    frequency: { impressions: { max: 2, days: 2 }, stop_after: { clicks: 3, conversions: 2 } },
    conversions: [
      { event: 'signed_up', within_hours: 30 },
      { product: 'pot', within_hours: 24 },
    ],
    variants: ['a', 'b', ...(hasThird ? ['c'] : [])].map((id) => aVariant('daily', id)),
  },
  {
    campaign_id: 'notice',
    placements: ['foot'],
    tags: ['service', 'promo'],
    test_users: ['u5'],
    variants: [aVariant('notice', 'a')],
  },
  {
    campaign_id: 'rest',
    priority: 'low',
    placements: PLACEMENTS,
    conversions: [{ product: 'cup', within_hours: 1 }],
    variants: [aVariant('rest', 'a'), aVariant('rest', 'b', { weight: 3 })],
  },
];

export const getFile = (workspaceId: string, timeZone: string, file: File) =>
  aStudioWorkspace({
    workspace_id: workspaceId,
    campaigns_from: 'file',
    placements: undefined,
    studio: { time_zone: timeZone },
    tag_caps: [{ tag: 'promo', campaigns_per_day: 1 }],
    segments: [{ segment_id: 'vip', audience: { tier: file.vip } }],
    holdout: {
      percentage: HOLDOUT,
      starts_at: new Date(HOLDOUT_STARTS).toISOString(),
      exempt_tags: ['service'],
      conversions: HOLDOUT_GOALS,
    },
    limits: {
      banners_sync: { per_user: { requests: 1_000_000, window_seconds: 60 } },
      banners_track: { per_user: { requests: 1_000_000, window_seconds: 60 } },
    },
    campaigns: getCampaigns(file).map((each) => ({ status: 'active', ...each })),
  });

const user = fc.nat({ max: USERS.length - 1 });
const what = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('visit' as const),
      placements: fc.subarray(PLACEMENTS, { minLength: 1 }),
      reads: fc.constantFrom('', 'pt-BR', 'de', 'pt'),
      types: fc.array(fc.constantFrom<EventType>('impression', 'impression', 'click', 'dismiss'), {
        maxLength: 3,
      }),
      // From a page that was offline for days to a clock that is ahead.
      lateHours: fc.constantFrom(0, 0, 0, 0, 30, 100, 401 * 24, -2, -60),
      isBot: fc.nat({ max: 9 }).map((value) => value === 0),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('event' as const),
      of: fc.nat({ max: 1_000 }),
      type: fc.constantFrom<EventType>('impression', 'click', 'dismiss'),
      lateHours: fc.constantFrom(0, 0, 12, -3),
      isRepeat: fc.boolean(),
      isBot: fc.nat({ max: 9 }).map((value) => value === 0),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('deed' as const),
      name: fc.constantFrom('asked', 'signed_up', 'left', 'cup', 'cup', 'pot'),
      alias: fc.constantFrom(null, null, null, 'x', 'y'),
      price: fc.constantFrom(5, -2, 1.25, 10),
      quantity: fc.constantFrom(1, 1, 3),
      currency: fc.constantFrom('EUR', 'EUR', 'EUR', 'PLN'),
      lateHours: fc.constantFrom(0, 0, 0, 20, 50, -5),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('attributes' as const),
      tier: fc.constantFrom('gold', 'gold', 'silver'),
      language: fc.constantFrom(null, 'pt-BR', 'de'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('merge' as const), into: user }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('identify' as const), alias: fc.constantFrom('x', 'y') }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('look' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('edit' as const),
      file: fc.record<Partial<File>>(
        {
          weight: fc.constantFrom(1, 5, 0),
          hasThird: fc.boolean(),
          goals: fc.nat({ max: 7 }),
          hasSale: fc.constantFrom(true, true, false),
          vip: fc.constantFrom('gold', 'silver'),
        },
        { requiredKeys: [] },
      ),
    }),
  },
);
export const step = fc.record({
  user,
  pauseHours: fc.constantFrom(0, 0, 0, 0.1, 1, 7, 26),
  /** Whether it is sent concurrently with the previous step, if their order does not matter. */
  isBeside: fc.boolean(),
  what,
});
export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
