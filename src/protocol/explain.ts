import * as z from 'zod/mini';

/** Ours: no other server has it. */
export const EXPLAIN_PATH = '/placard/explain';

/** A part of an audience filter that the user does not fit. */
const failingClause = z.object({
  /** Where it is in the campaign: `audience.tier`, `audience.$and[1].country`. */
  clause: z.string(),
  /** What the filter has there. */
  expected: z.unknown(),
  /** What the user has, where the clause compares one text, number or boolean; `null` where they have nothing. */
  actual: z.optional(z.unknown()),
});
export type FailingClause = z.infer<typeof failingClause>;

/** `bucket` is where the user falls from 0 to 100: below `control_percentage` they are held out. */
const bucketing = { bucket: z.number(), control_percentage: z.number() };
/** An instant in UTC as text of ISO 8601, `null` where there is none. */
const instant = z.nullable(z.string());

/** The outcome of one campaign in one placement, with the facts behind it. */
const reason = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.literal('shown'),
    banner_id: z.string(),
    variant_id: z.string(),
    is_test_send: z.boolean(),
    ...bucketing,
  }),
  /** It has the placement, and nothing is shown there. */
  z.object({ outcome: z.literal('held_out'), banner_id: z.string(), ...bucketing }),
  z.object({ outcome: z.literal('not_running'), status: z.string() }),
  z.object({ outcome: z.literal('out_of_time'), starts_at: instant, ends_at: instant }),
  z.object({ outcome: z.literal('not_in_audience'), clauses: z.array(failingClause) }),
  /** `again_at` is `null` where it is never shown again. */
  z.object({ outcome: z.literal('dismissed'), dismissed_at: z.string(), again_at: instant }),
  z.object({ outcome: z.literal('capped') }),
  /** `by` is the ID of the campaign that has the placement. */
  z.object({ outcome: z.literal('outranked'), by: z.string() }),
  z.object({
    outcome: z.literal('unfilled'),
    variant_id: z.nullable(z.string()),
    property: z.nullable(z.string()),
    problem: z.string(),
  }),
]);
export type Reason = z.infer<typeof reason>;

/** `why` is the outcome as a sentence for people, without its subject: the campaign. */
const campaignExplanation = z.intersection(
  z.object({ campaign_id: z.string(), name: z.string(), why: z.string() }),
  reason,
);
export type CampaignExplanation = z.infer<typeof campaignExplanation>;

export const explainRequest = z.object({
  external_user_id: z.string().check(z.minLength(1)),
  /** Default the only app of the workspace. */
  app_id: z.optional(z.string()),
  app_version: z.optional(z.string()),
  device_id: z.optional(z.string()),
  /** Default every placement that a campaign names. */
  placements: z.optional(z.array(z.string())),
});
export type ExplainRequest = z.infer<typeof explainRequest>;

/** 200: by placement all its campaigns, in the order in which they are considered. */
export const explainAnswer = z.object({
  /** Whether the service has a profile of the user. */
  has_profile: z.boolean(),
  placements: z.record(z.string(), z.array(campaignExplanation)),
});
export type ExplainAnswer = z.infer<typeof explainAnswer>;
