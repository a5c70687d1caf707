import * as z from 'zod/mini';
import { ERROR_MESSAGES } from '../errors.ts';
import type { CampaignExplanation, ExplainRequest, ExplainResult, FailingClause } from '../explain.ts';
import { MAX_APP_VERSION_CHARACTERS } from '../limits.ts';
import { fitsCharacters } from '../text.ts';
import { deviceId, placements } from './banners-sync.ts';
import { described, envelope, optionalTextMember } from './body.ts';

const failingClause: z.ZodMiniType<FailingClause> = z.object({
  clause: z.string(),
  expected: z.unknown(),
  actual: z.optional(z.unknown()),
});

const bucketing = { bucket: z.number(), control_percentage: z.number() };

/** UTC time in ISO 8601, or `null`. */
const instant = z.nullable(z.string());

const reason = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.literal('shown'),
    banner_id: z.string(),
    variant_id: z.string(),
    is_test_send: z.boolean(),
    ...bucketing,
  }),
  z.object({
    outcome: z.literal('held_out'),
    banner_id: z.string(),
    by_holdout: z.optional(z.literal(true)),
    ...bucketing,
  }),
  z.object({ outcome: z.literal('inactive'), status: z.string() }),
  z.object({ outcome: z.literal('outside_schedule'), starts_at: instant, ends_at: instant }),
  z.object({ outcome: z.literal('not_in_audience'), clauses: z.array(failingClause) }),
  z.object({ outcome: z.literal('dismissed'), dismissed_at: z.string(), eligible_again_at: instant }),
  z.object({
    outcome: z.literal('frequency_capped'),
    limit: z.string(),
    tag: z.optional(z.string()),
    max: z.number(),
    count: z.number(),
    eligible_again_at: instant,
  }),
  z.object({ outcome: z.literal('outranked'), winning_campaign_id: z.string() }),
  z.object({
    outcome: z.literal('render_failed'),
    variant_id: z.nullable(z.string()),
    property: z.nullable(z.string()),
    problem: z.string(),
  }),
]);

const campaignExplanation: z.ZodMiniType<CampaignExplanation> = z.intersection(
  z.object({ campaign_id: z.string(), name: z.string(), message: z.string() }),
  reason,
);

/** Body of `POST /placard/explain`. */
export const explainRequest: z.ZodMiniType<ExplainRequest> = z.object(
  {
    external_user_id: envelope.external_user_id,
    app_id: optionalTextMember('app_id', () => true, {
      description: 'App that the user would see them in. Default the only one of the workspace.',
    }),
    app_version: optionalTextMember(
      'app_version',
      (version) => fitsCharacters(version, MAX_APP_VERSION_CHARACTERS),
      {
        description: 'Version of the app, for audiences that ask for it.',
        maxLength: MAX_APP_VERSION_CHARACTERS,
      },
    ),
    device_id: deviceId('Device of the user; texts may print it.'),
    placements: z.pipe(
      z.nullish(placements('IDs of placements. Default all that campaigns name.')),
      z.transform((ids) => ids ?? undefined),
    ),
  },
  { error: ERROR_MESSAGES.notAnObject },
);

/** Response 200. */
export const explainResult: z.ZodMiniType<ExplainResult> = z.object({
  has_profile: z.boolean().check(described('Whether the service has a profile of the user.')),
  placements: z
    .record(z.string(), z.array(campaignExplanation))
    .check(
      described(
        'By placement its campaigns in order, each with `campaign_id`, `name`, `outcome`, `message` and the details of the outcome.',
      ),
    ),
});
