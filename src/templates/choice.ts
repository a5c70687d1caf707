import { CARD } from './card.ts';
import { type TemplateEntry, text } from './catalogue.ts';
import { LIMITS } from './content.ts';
import { frameProperties, MESSAGE_NEEDED, messageProperties } from './properties.ts';
import type { TemplateDefinition } from './template.ts';

/** Card with two buttons side by side, for a question with two choices. Each is a link. */
export const CHOICE: TemplateDefinition = {
  base: CARD,
  dismissible: true,
  hasChoice: true,
  css: /* css */ `
.choice .buttons { display: flex; flex-wrap: wrap; gap: 0.75rem; inline-size: 100%; margin-block-start: auto; }
.choice .buttons .action { flex: 1 1 8rem; margin-block-start: 0; }
.choice .other { border-color: currentcolor; background: transparent; color: var(--text); }
.choice .action:hover { text-decoration: underline; text-underline-offset: 0.2em; }
`,
};

export const choiceEntry = () =>
  ({
    name: 'choice',
    label: 'Choice',
    properties: [
      ...messageProperties(),
      {
        name: 'secondary_button_text',
        type: 'string',
        input: 'line',
        label: 'Second button',
        help: 'Template choice only. Requires a link.',
        most: LIMITS.secondary_button_text,
        translation: 'needed',
        isPersonal: true,
      },
      {
        name: 'secondary_link',
        type: 'string',
        input: 'link',
        label: 'Second button link',
        help: 'Template choice only.',
      },
      ...frameProperties(),
    ],
    needed: MESSAGE_NEEDED,
    width: 420,
    heights: { narrow: '21.5rem', wide: '21.5rem' },
    imageRatio: [16, 10],
    starters: [
      {
        name: 'Choice',
        summary: 'A question with two buttons.',
        properties: () => ({
          headline: text('What brings you here?'),
          button_text: text('Looking for a gift'),
          link: text('/'),
          secondary_button_text: text('I know what I want'),
          secondary_link: text('/'),
        }),
      },
    ],
  }) as const satisfies TemplateEntry;
