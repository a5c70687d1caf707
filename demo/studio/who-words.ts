import { audienceWords } from './audience-words.ts';
import type { CampaignText } from './campaign-text.ts';

const testWords = ({ test_users = [] }: CampaignText): string[] =>
  test_users?.length ? [`Test users see it all the same: ${test_users.join(', ')}.`] : [];

/** Who gets a campaign, one sentence an entry: first what its status says, then its rules. */
export const whoWords = (campaign: CampaignText): string[] => {
  const audience = audienceWords(campaign.audience);
  if (campaign.status === 'active') return [audience, ...testWords(campaign)];
  const none = campaign.status === 'draft' ? 'Nobody yet: it is a draft.' : 'Nobody: it is stopped.';
  return [none, ...testWords(campaign), `Once it is live: ${audience}`];
};

/** Whether the visitor who is looked as gets it; `eligible` is what the rules say, as if it were live. */
export const verdictWords = (
  { status, test_users }: CampaignText,
  visitor: { id: string; name: string },
  eligible: boolean,
): string => {
  const { id, name } = visitor;
  if (test_users?.includes(id)) return `${name} is a test user and gets it.`;
  if (status === 'active') {
    return eligible
      ? `By its rules, ${name} gets it.`
      : `By its rules, ${name} does not get it now. You see it as if they did.`;
  }
  const state = status === 'draft' ? 'a draft' : 'stopped';
  return `It is ${state}: nobody gets it. By its rules, ${name} would${eligible ? '' : ' not get it now either'}.`;
};
