import type { Results } from '../server/results.ts';
import { node } from '../ui/node.ts';
import type { CampaignText } from './campaign-text.ts';
import { resultsTable } from './results-table.ts';
import { ruleWords, STATE_WORDS, scheduleState, scheduleWords } from './schedule-words.ts';
import { whoWords } from './who-words.ts';

/** Whether a campaign runs, as a small mark. */
export const stateMark = (campaign: CampaignText): HTMLElement => {
  const state = scheduleState(campaign, Date.now());
  return node('span', { class: 'state', 'data-state': state }, [STATE_WORDS[state]]);
};

const fact = (title: string, ...children: (Node | string)[]) =>
  node('section', { class: 'fact' }, [node('h3', {}, [title]), ...children]);

/** Who gets it, when, and what came of it. */
export const facts = (campaign: CampaignText, results: Results): HTMLElement =>
  node('div', { class: 'facts' }, [
    fact('Who gets it', ...whoWords(campaign).map((words) => node('p', {}, [words]))),
    fact(
      'When',
      node('p', {}, [scheduleWords(campaign)]),
      node('p', { class: 'muted' }, [ruleWords(campaign).join(' ')]),
    ),
    fact('Results', resultsTable(campaign, results)),
  ]);
