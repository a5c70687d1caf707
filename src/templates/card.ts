import { type TemplateEntry, text } from './catalogue.ts';
import { frameProperties, MESSAGE_NEEDED, messageProperties } from './properties.ts';
import type { TemplateDefinition } from './template.ts';

/** Upright card for a column or grid: image on top, text below. */
export const CARD: TemplateDefinition = {
  dismissible: true,
  width: '20rem',
  css: /* css */ `
.card { display: flex; flex-direction: column; }
/* In a low box the image shrinks before the text, down to this height. */
.card .image { flex: 0 1 auto; min-block-size: 6rem; aspect-ratio: var(--placard-image-ratio, 16 / 10); inline-size: 100%; }
.card .content {
  display: flex;
  flex: 1 0 auto;
  flex-direction: column;
  align-items: flex-start;
  gap: calc(var(--space) * 0.875);
  padding: calc(var(--space) * 1.125) calc(var(--space) * 1.25) calc(var(--space) * 1.25);
}
.card[data-content="none"] .image { flex-grow: 1; }
/* In a wide slot the image is a band, so that the text stays visible. */
@container (min-width: 36rem) {
  .card:not([data-content="none"]) .image { max-block-size: 18rem; }
}
.card .action { margin-block-start: auto; }
.card .headline { font-size: 1.125rem; }
.card .body { --above: 0.375rem; font-size: 0.9375rem; }
.card .dismiss { position: absolute; inset-block-start: 0.5rem; inset-inline-end: 0.5rem; margin: -0.375rem; }
.card[data-image="some"] .dismiss { --under-dismiss: var(--surface); }
/* Without an image the text is larger and centered. */
.card[data-image="none"] .content { justify-content: center; gap: var(--space); padding-block: calc(var(--space) * 1.5); }
.card[data-image="none"] .texts { padding-inline-end: 1.75rem; }
.card[data-image="none"] .headline { font-size: 1.5rem; line-height: 1.2; }
.card[data-image="none"] .body { --above: 0.5rem; font-size: 1rem; }
.card[data-image="none"] .action { margin-block-start: 0; }
`,
};

export const cardEntry = () =>
  ({
    name: 'card',
    label: 'Card',
    properties: [...messageProperties(), ...frameProperties()],
    needed: MESSAGE_NEEDED,
    width: 420,
    heights: { narrow: '21.5rem', wide: '21.5rem' },
    imageRatio: [16, 10],
    starters: [
      {
        name: 'Offer',
        summary: 'A card in the accent color.',
        properties: () => ({
          headline: text('15% off this week'),
          body: text('On everything not already on sale.'),
          button_text: text('Shop now'),
          link: text('/'),
          theme: text('accent'),
          dismissible: { type: 'boolean', value: true },
        }),
      },
      {
        name: 'Welcome back',
        summary: 'Greets the user by name.',
        properties: () => ({
          // biome-ignore lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
          headline: text("Good to see you{% if ${first_name} %}, {{${first_name} | default: ''}}{% endif %}"),
          body: text('Pick up where you left off.'),
          button_text: text('View cart'),
          link: text('/'),
          theme: text('dark'),
        }),
      },
    ],
  }) as const satisfies TemplateEntry;
