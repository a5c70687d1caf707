import type { CampaignExplanation, ExplainAnswer, FailingClause, Reason } from '../../protocol/index.ts';
import { compileAudience, documentField, type Filter } from '../campaigns/audience.ts';
import { type Asker, audienceOf } from '../campaigns/audience-document.ts';
import { bucketsOf } from '../campaigns/bucketing.ts';
import { decide, type Question, type Step } from '../campaigns/decide.ts';
import { askerOf } from '../campaigns/judge.ts';
import { isOpen, readPath } from '../campaigns/may-match.ts';
import { UnfilledError } from '../campaigns/unfilled.ts';

interface Part {
  clause: string;
  name: string;
  condition: unknown;
}

/** What must hold together: the members of a filter, and those of the filters in its `$and`. */
const partsOf = (filter: Filter, path: string): Part[] =>
  Object.entries(filter).flatMap(([name, condition]) =>
    name === '$and'
      ? (condition as Filter[]).flatMap((each, index) => partsOf(each, `${path}.$and[${index}]`))
      : [{ clause: `${path}.${name}`, name, condition }],
  );

const fits = ({ name, condition }: Part, asker: Asker, nowMs: number): boolean => {
  // The workspace was read with the whole filter, so its parts compile.
  const audience = compileAudience({ [name]: condition }, () => undefined);
  try {
    return audience?.matches(audienceOf(asker, nowMs)) ?? false;
  } catch {
    // As in the decision: a user whose attributes trip a filter does not fit it.
    return false;
  }
};

/** Every part of the filter that keeps this user out of the audience. */
export const failingClauses = (filter: Filter, asker: Asker, nowMs: number): FailingClause[] =>
  partsOf(filter, 'audience')
    .filter((part) => !fits(part, asker, nowMs))
    .map(({ clause, name, condition }) => {
      const read = name.startsWith('$') ? null : readPath(documentField(name));
      const actual = read?.(asker, nowMs);
      return { clause, expected: condition, ...(read && !isOpen(actual) && { actual: actual ?? null }) };
    });

/** A longer value is cut: the facts beside the sentence have all of it. */
const MAX_SHOWN_CHARACTERS = 160;

const json = (value: unknown): string => {
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
};

const again = (at: string | null) => (at ? `it is shown again from ${at}` : 'it is not shown again');

type Texts = { [Name in Reason['outcome']]: (reason: Extract<Reason, { outcome: Name }>) => string };

const TEXTS: Texts = {
  shown: ({ variant_id, is_test_send }) =>
    `shows variant ${variant_id}${is_test_send ? ' as a test send' : ''}`,
  held_out: ({ bucket, control_percentage }) =>
    `shows nothing: the user is held out (bucket ${bucket}, control is below ${control_percentage})`,
  not_running: ({ status }) => `is ${status === 'draft' ? 'a draft' : status}`,
  out_of_time: ({ starts_at, ends_at }) =>
    `runs ${[starts_at && `from ${starts_at}`, ends_at && `until ${ends_at}`].filter(Boolean).join(' ')}`,
  not_in_audience: ({ clauses }) =>
    `the user is not in the audience: ${clauses
      .map(({ clause, expected, actual }) =>
        actual === undefined
          ? `${clause} does not hold: ${json(expected)}`
          : `${clause} expects ${json(expected)}, the user has ${actual === null ? 'nothing' : json(actual)}`,
      )
      .join('; ')}`,
  dismissed: ({ dismissed_at, again_at }) => `the user dismissed it at ${dismissed_at}; ${again(again_at)}`,
  capped: ({ limit, tag, max, count, again_at }) =>
    `the limit ${tag === undefined ? `frequency.${limit}` : `of the tag ${tag}`} is reached (${count} of ${max}); ${again(again_at)}`,
  outranked: ({ by }) => `campaign ${by} ranks higher`,
  unfilled: ({ property, problem }) =>
    property === null
      ? `cannot be filled in: ${problem}`
      : `the property ${property} cannot be filled in: ${problem}`,
};

/** A reason as a sentence for people, without its subject: the campaign. */
export const reasonText = <Name extends Reason['outcome']>(
  reason: Extract<Reason, { outcome: Name }>,
): string => (TEXTS[reason.outcome as Name] as (reason: Reason) => string)(reason);

const iso = (timeMs: number | null): string | null =>
  timeMs === null ? null : new Date(timeMs).toISOString();

/** With the message of the cause, which may quote the user: the log leaves it out, an operator asks for it. */
const problemOf = (error: unknown): { property: string | null; problem: string } => {
  const isUnfilled = error instanceof UnfilledError;
  const cause = isUnfilled ? error.cause : error;
  return {
    property: isUnfilled ? error.property : null,
    problem: cause instanceof Error ? cause.message : String(cause),
  };
};

/** The reason of a step of the decision, with its facts. */
export const reasonOf = (
  step: Step,
  question: Omit<Question, 'trace' | 'logUnfilled'>,
  asker: Asker,
): Reason => {
  const { workspace, externalUserId, user, now } = question;
  const { campaignId, status, startsAtMs, endsAtMs, audience, reeligibleAfterMs } = step.campaign;
  const bucketing = () => {
    const { control } = bucketsOf(workspace.workspaceId, campaignId, externalUserId);
    return {
      bucket: Math.floor(control * 10_000) / 100,
      control_percentage: step.campaign.controlPercentage,
    };
  };
  switch (step.outcome) {
    case 'shown': {
      const { outcome, bannerId, variant, isTestSend } = step;
      const facts = { banner_id: bannerId, variant_id: variant.variantId, is_test_send: isTestSend };
      return { outcome, ...facts, ...bucketing() };
    }
    case 'held_out':
      return { outcome: step.outcome, banner_id: step.bannerId, ...bucketing() };
    case 'not_running':
      return { outcome: step.outcome, status };
    case 'out_of_time':
      return { outcome: step.outcome, starts_at: iso(startsAtMs), ends_at: iso(endsAtMs) };
    case 'not_in_audience':
      return { outcome: step.outcome, clauses: failingClauses(audience?.filter ?? {}, asker, now) };
    case 'dismissed': {
      const dismissedAtMs = user.campaigns.find((each) => each.campaignId === campaignId)!.lastDismissalMs!;
      return {
        outcome: step.outcome,
        dismissed_at: new Date(dismissedAtMs).toISOString(),
        again_at: reeligibleAfterMs === null ? null : iso(dismissedAtMs + reeligibleAfterMs),
      };
    }
    case 'capped': {
      const { againMs, ...facts } = step.cap;
      return { outcome: step.outcome, ...facts, again_at: iso(againMs) };
    }
    case 'outranked':
      return { outcome: step.outcome, by: step.by.campaignId };
    case 'unfilled': {
      return { outcome: step.outcome, variant_id: step.variantId, ...problemOf(step.error) };
    }
  }
};

export type ExplainQuestion = Omit<Question, 'trace' | 'logUnfilled'>;

/** Decides as `banners/sync` does. Returns the outcome of every campaign of each placement, with its reason. */
export const explain = (question: ExplainQuestion): ExplainAnswer['placements'] => {
  const asker = askerOf(question);
  const explanation = new Map<string, CampaignExplanation[]>(question.placementIds.map((id) => [id, []]));
  decide({
    ...question,
    logUnfilled: () => undefined,
    trace: (step) => {
      const reason = reasonOf(step, question, asker);
      const { campaignId, name } = step.campaign;
      explanation
        .get(step.placementId)
        ?.push({ campaign_id: campaignId, name, why: reasonText(reason), ...reason });
    },
  });
  return Object.fromEntries(explanation);
};
