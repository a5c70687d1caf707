import type { CampaignExplanation, ExplainAnswer } from '../../protocol/index.ts';
import type { Question } from '../campaigns/decide.ts';
import { decide } from '../campaigns/decide.ts';
import { askerOf } from '../campaigns/judge.ts';
import { reasonOf } from './reason.ts';
import { reasonText } from './reason-text.ts';

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
