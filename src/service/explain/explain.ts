import {
  type CampaignExplanation,
  type ExplainResult,
  type FailingClause,
  isRecord,
  type Reason,
  truncate,
} from '../../protocol/index.ts';
import type { Audience } from '../campaigns/audience/audience.ts';
import type { AudienceContext } from '../campaigns/audience/fields.ts';
import { getBuckets } from '../campaigns/bucketing.ts';
import type { Campaign } from '../campaigns/campaign.ts';
import type { DecisionRequest, TraceEntry } from '../campaigns/decision.ts';
import { toAudienceContext } from '../campaigns/eligibility.ts';
import { holdoutBucket } from '../campaigns/holdout.ts';
import { RenderError } from '../campaigns/render-errors.ts';
import { selectBanners } from '../campaigns/select-banners.ts';
import { getErrorMessage } from '../log.ts';

/** Maximum characters of the failing conditions per campaign, because each of its placements repeats them. */
const MAX_CLAUSES_CHARACTERS = 2_000;
const MAX_SHOWN_VALUES = 20;
const MAX_SHOWN_LETTERS = 200;

/** Shortens the lists and strings of a condition. */
const shorten = (condition: unknown): unknown => {
  if (typeof condition === 'string') return condition.slice(0, MAX_SHOWN_LETTERS);
  if (Array.isArray(condition)) return condition.slice(0, MAX_SHOWN_VALUES).map(shorten);
  if (!isRecord(condition)) return condition;
  const members = Object.entries(condition).slice(0, MAX_SHOWN_VALUES);
  return Object.fromEntries(members.map(([name, value]) => [name, shorten(value)]));
};

type ExplainOptions = Omit<DecisionRequest, 'trace' | 'logRenderError'>;

/** Formats the path of a condition: `audience.$and[0].tier`. */
const formatClausePath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}.${String(key)}`),
    'audience',
  );

/** Returns the conditions that exclude the user, up to the size limit. */
const failingClauses = (audience: Audience, context: AudienceContext): FailingClause[] => {
  const clauses: FailingClause[] = [];
  let room = MAX_CLAUSES_CHARACTERS;
  for (const { path, condition, ...facts } of audience.failingParts(context)) {
    room -= JSON.stringify(condition).length;
    // Always include the first condition, which may be the only one.
    if (room < 0 && clauses.length > 0) break;
    const expected = room < 0 ? shorten(condition) : condition;
    clauses.push({ clause: formatClausePath(path), expected, ...facts });
  }
  return clauses;
};

/** Maximum length of a value in a sentence. The structured facts contain the whole value. */
const MAX_SHOWN_CHARACTERS = 160;

const json = (value: unknown): string => truncate(JSON.stringify(value), MAX_SHOWN_CHARACTERS);

const formatEligibleAgain = (at: string | null) =>
  at ? `it is shown again from ${at}` : 'it is not shown again';

const formatClause = ({ clause, expected, actual }: FailingClause): string =>
  actual === undefined
    ? `${clause} does not match: ${json(expected)}`
    : `${clause} expects ${json(expected)}, the user has ${actual === null ? 'nothing' : json(actual)}`;

/** Formats a reason as a sentence whose subject is the campaign. */
const formatReason = (reason: Reason): string => {
  switch (reason.outcome) {
    case 'shown': {
      const { variant_id, is_test_send } = reason;
      return `shows variant ${variant_id}${is_test_send ? ' as a test send' : ''}`;
    }
    case 'held_out': {
      const { bucket, control_percentage, by_holdout } = reason;
      return `shows nothing: the user is held out${by_holdout ? ' of all campaigns' : ''} (bucket ${bucket}, control is below ${control_percentage})`;
    }
    case 'inactive':
      return `is ${reason.status === 'draft' ? 'a draft' : reason.status}`;
    case 'outside_schedule': {
      const { starts_at, ends_at } = reason;
      return `runs ${[starts_at && `from ${starts_at}`, ends_at && `until ${ends_at}`].filter(Boolean).join(' ')}`;
    }
    case 'not_in_audience':
      return `the user is not in the audience: ${reason.clauses.map(formatClause).join('; ')}`;
    case 'dismissed': {
      const { dismissed_at, eligible_again_at } = reason;
      return `the user dismissed it at ${dismissed_at}; ${formatEligibleAgain(eligible_again_at)}`;
    }
    case 'frequency_capped': {
      const { limit, tag, max, count, eligible_again_at } = reason;
      return `the limit ${tag === undefined ? `frequency.${limit}` : `of the tag ${tag}`} is reached (${count} of ${max}); ${formatEligibleAgain(eligible_again_at)}`;
    }
    case 'outranked':
      return `campaign ${reason.winning_campaign_id} ranks higher`;
    case 'render_failed': {
      const { property, problem } = reason;
      return property === null
        ? `cannot be rendered: ${problem}`
        : `the property ${property} cannot be rendered: ${problem}`;
    }
  }
};

const iso = (timeMs: number | null): string | null =>
  timeMs === null ? null : new Date(timeMs).toISOString();

/** Returns the problem with the error message, which may quote user data. For operators only, never for the log. */
const toRenderProblem = (error: unknown): { property: string | null; problem: string } => {
  const isUnfilled = error instanceof RenderError;
  const cause = isUnfilled ? error.cause : error;
  return {
    property: isUnfilled ? error.property : null,
    problem: getErrorMessage(cause),
  };
};

/** Returns the reason for an entry of the trace, with its facts. */
const toReason = (entry: TraceEntry, options: ExplainOptions, context: AudienceContext): Reason => {
  const { workspace, externalUserId, user } = options;
  const { campaignId, status, startsAtMs, endsAtMs, audience, reeligibleAfterMs } = entry.campaign;
  const bucketing = () => {
    const { control } = getBuckets(workspace.workspaceId, campaignId, externalUserId);
    return {
      bucket: Math.floor(control * 10_000) / 100,
      control_percentage: entry.campaign.controlPercentage,
    };
  };
  switch (entry.outcome) {
    case 'shown': {
      const { outcome, bannerId, variant, isTestSend } = entry;
      const facts = { banner_id: bannerId, variant_id: variant.variantId, is_test_send: isTestSend };
      return { outcome, ...facts, ...bucketing() };
    }
    case 'held_out': {
      const { outcome, bannerId: banner_id, byHoldout } = entry;
      const { holdout, workspaceId } = workspace;
      if (!byHoldout || !holdout) return { outcome, banner_id, ...bucketing() };
      const bucket = Math.floor(holdoutBucket(workspaceId, holdout, externalUserId) * 100) / 100;
      return { outcome, banner_id, bucket, control_percentage: holdout.percentage, by_holdout: true };
    }
    case 'inactive':
      return { outcome: entry.outcome, status };
    case 'outside_schedule':
      return { outcome: entry.outcome, starts_at: iso(startsAtMs), ends_at: iso(endsAtMs) };
    case 'not_in_audience':
      return { outcome: entry.outcome, clauses: audience ? failingClauses(audience, context) : [] };
    case 'dismissed': {
      const dismissedAtMs = user.campaigns.find((each) => each.campaignId === campaignId)!.lastDismissalMs!;
      return {
        outcome: entry.outcome,
        dismissed_at: new Date(dismissedAtMs).toISOString(),
        eligible_again_at: reeligibleAfterMs === null ? null : iso(dismissedAtMs + reeligibleAfterMs),
      };
    }
    case 'frequency_capped': {
      const { eligibleAgainAtMs: againMs, ...facts } = entry.cap;
      return { outcome: entry.outcome, ...facts, eligible_again_at: iso(againMs) };
    }
    case 'outranked':
      return { outcome: entry.outcome, winning_campaign_id: entry.by.campaignId };
    case 'render_failed': {
      return { outcome: entry.outcome, variant_id: entry.variantId, ...toRenderProblem(entry.error) };
    }
  }
};

/** Returns the outcome of every campaign in each placement with its reason, decided like `banners/sync`. */
export const explain = (options: ExplainOptions): ExplainResult['placements'] => {
  const context = toAudienceContext(options);
  const explanation = new Map<string, CampaignExplanation[]>(options.placementIds.map((id) => [id, []]));
  /** Failing conditions, computed once per campaign for all its placements. */
  const notInAudience = new Map<Campaign, CampaignExplanation>();
  const explained = (entry: TraceEntry): CampaignExplanation => {
    const reason = toReason(entry, options, context);
    const { campaignId, name } = entry.campaign;
    return { campaign_id: campaignId, name, message: formatReason(reason), ...reason };
  };
  selectBanners({
    ...options,
    logRenderError: () => undefined,
    trace: (entry) => {
      const { campaign, placementId, outcome } = entry;
      const known = outcome === 'not_in_audience' ? notInAudience.get(campaign) : undefined;
      const each = known ?? explained(entry);
      if (outcome === 'not_in_audience') notInAudience.set(campaign, each);
      explanation.get(placementId)?.push(each);
    },
  });
  return Object.fromEntries(explanation);
};
