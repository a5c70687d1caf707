import type { CampaignExplanation, FailingClause } from '../../../protocol/index.ts';
import { audienceWords } from '../../campaign/audience-words.ts';
import { moment } from '../parts/dates.ts';

interface OutcomeWords {
  title: string;
  details: string[];
}

/** What of a person is counted against a limit. */
const LIMITS: Readonly<Record<string, string>> = {
  impressions: 'Views in the last days',
  'stop_after.impressions': 'Views',
  'stop_after.clicks': 'Clicks',
  'stop_after.conversions': 'Goals reached',
  tag: 'Campaigns today of the tag',
};

const CLAUSE = /^audience\.?(?:\$and\[\d+\]\.)*/;

/** A clause of the audience in a sentence, and what the person has instead. */
const clauseWords = ({ clause, expected, actual }: FailingClause): string => {
  const words = audienceWords({ [clause.replace(CLAUSE, '')]: expected })
    .replace(/^.*?: /, '')
    .replace(/\.$/, '');
  if (actual === undefined) return `Asks for: ${words}.`;
  return `Asks for: ${words}. Known of them: ${actual === null ? 'nothing' : `“${String(actual)}”`}.`;
};

const plain = (title: string, ...details: string[]): OutcomeWords => ({ title, details });

/** What became of a campaign for somebody, in words. `nameOf` names another campaign by its ID. */
export const outcomeWords = (
  explanation: CampaignExplanation,
  nameOf: (campaignId: string) => string,
  isReal: boolean,
): OutcomeWords => {
  switch (explanation.outcome) {
    case 'shown':
      return plain(
        explanation.is_test_send ? 'Shown as a test send' : 'Shown',
        ...(isReal ? [`Variant “${explanation.variant_id}”.`] : []),
      );
    case 'held_out':
      return plain(
        'Held out: they see nothing here',
        `They are among the ${explanation.control_percentage} % of the control group.`,
      );
    case 'not_running':
      return plain(explanation.status === 'draft' ? 'A draft' : 'Stopped');
    case 'out_of_time': {
      const { starts_at, ends_at } = explanation;
      const isBefore = starts_at !== null && Date.parse(starts_at) > Date.now();
      return plain(
        isBefore ? `Begins ${moment(starts_at)}` : ends_at ? `Ended ${moment(ends_at)}` : 'Out of time',
      );
    }
    case 'not_in_audience':
      return plain('Not in the audience', ...explanation.clauses.map(clauseWords));
    case 'dismissed': {
      const { dismissed_at, again_at } = explanation;
      const again = again_at
        ? `It may be shown again from ${moment(again_at)} on.`
        : 'It is not shown again.';
      return plain(`Dismissed ${moment(dismissed_at)}`, again);
    }
    case 'capped': {
      const { limit, tag, max, count, again_at } = explanation;
      const again = again_at ? ` Again from ${moment(again_at)} on.` : ' Never again.';
      return plain(
        'Seen often enough',
        `${LIMITS[limit] ?? limit}${tag ? ` “${tag}”` : ''}: ${count} of ${max}.${again}`,
      );
    }
    case 'outranked':
      return plain(`Outranked by “${nameOf(explanation.by)}”`);
    case 'unfilled': {
      const { property, problem } = explanation;
      return plain('Cannot be filled in for them', property ? `${property}: ${problem}.` : `${problem}.`);
    }
  }
};
