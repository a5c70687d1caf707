import type { Reason } from '../../protocol/index.ts';
import type { Asker } from '../campaigns/audience-document.ts';
import { bucketsOf } from '../campaigns/bucketing.ts';
import type { Question, Step } from '../campaigns/decide.ts';
import { UnfilledError } from '../campaigns/unfilled.ts';
import { failingClauses } from './failing-clauses.ts';

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
