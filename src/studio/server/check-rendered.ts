import {
  type Campaign,
  createCheckBudget,
  personaProfile,
  previewVariant,
  type Workspace,
} from '../../service/index.ts';
import { labelOf } from '../campaign/member-words.ts';
import type { Tell } from './draft-check.ts';

const TEXTS = ['headline', 'body', 'button_text'];

/** What a newcomer, of whom nothing is known, reads where a template has no default. */
export const checkRendered = (campaign: Campaign, workspace: Workspace, nowMs: number, tell: Tell) => {
  const people = [
    { name: 'somebody new', profile: null },
    ...workspace.studio.personas.map((persona) => ({
      name: persona.name,
      profile: personaProfile(persona, nowMs),
    })),
  ];
  const nextBudget = createCheckBudget();
  for (const [index, { variantId }] of campaign.variants.entries()) {
    for (const { name, profile } of people) {
      const budget = nextBudget();
      if (budget === null) {
        tell(
          'error',
          ['variants'],
          'The texts of all variants take too long to write: make some of them shorter.',
        );
        return;
      }
      const shown = previewVariant({
        workspace,
        campaign,
        variantId,
        externalId: 'persona',
        profile,
        nowMs,
        budget,
      });
      if (!shown) continue;
      if ('unfilled' in shown) {
        const path = ['variants', index, 'properties', shown.unfilled];
        tell('error', path, `${labelOf(shown.unfilled)} cannot be filled in for ${name}: ${shown.why}.`);
        break;
      }
      const texts = TEXTS.map((each) => ({ each, value: shown.properties[each]?.value }));
      const blank = texts.find(({ value }) => typeof value === 'string' && value.trim() === '');
      if (blank && blank.each !== 'body') {
        const path = ['variants', index, 'properties', blank.each];
        tell('warning', path, `${labelOf(blank.each)} is empty for ${name}.`);
        break;
      }
    }
  }
};
