import { type TemplateEntry, text } from './catalogue.ts';
import { frameProperties, MESSAGE_NEEDED, messageProperties } from './properties.ts';
import type { TemplateDefinition } from './template.ts';

/**
 * Large banner. Text is next to the image and never on it, so that it stays readable with any photo.
 *
 * An image or text alone fills the box. The image extends to the edges; the text is centered and clear of the close button. Long
 * headlines use a smaller size. If the box is too low for image and text, the image shrinks to its minimum height first.
 */
export const HERO: TemplateDefinition = {
  dismissible: false,
  css: /* css */ `
.hero { display: flex; flex-direction: column; }
.hero .image { flex: 0 1 auto; min-block-size: 6rem; aspect-ratio: var(--placard-image-ratio, 16 / 9); }
.hero .content {
  display: flex;
  flex: 1 0 auto;
  flex-direction: column;
  justify-content: center;
  align-items: flex-start;
  gap: calc(var(--space) * 1.25);
  padding: calc(var(--space) * 1.5);
}
.hero .headline { font-size: clamp(1.5rem, 5.2cqi, 2.875rem); font-weight: 700; letter-spacing: -0.015em; line-height: 1.12; }
.hero .body { --above: 0.75rem; font-size: clamp(1rem, 1.8cqi, 1.1875rem); max-inline-size: 38em; }
.hero .action { padding-inline: 1.5em; }
.hero .dismiss { position: absolute; inset-block-start: 0.75rem; inset-inline-end: 0.75rem; }
.hero[data-image="some"] .dismiss { --under-dismiss: var(--surface); }
.hero[data-content="none"] .image { flex-grow: 1; }
.hero[data-image="none"] .content { align-items: center; text-align: center; }
.hero[data-image="none"]:has(.dismiss) .texts { padding-inline: 1.75rem; }
.hero[data-image="none"] .headline { font-size: clamp(1.5rem, 6cqi, 3.5rem); }
.hero[data-headline="long"] .headline { font-size: clamp(1.375rem, 3.2cqi, 2rem); line-height: 1.2; }
@container (min-width: 42rem) {
  .hero { display: grid; min-block-size: 20rem; grid-template: minmax(min-content, 1fr) / minmax(0, 1fr); }
  .hero[data-image="some"][data-content="some"] { grid-template-columns: minmax(0, 11fr) minmax(0, 10fr); }
  .hero .image { order: 2; aspect-ratio: auto; block-size: 100%; }
  .hero .content { padding: calc(var(--space) * 2) clamp(calc(var(--space) * 2), 5cqi, calc(var(--space) * 4)); }
}
`,
};

export const heroEntry = () =>
  ({
    name: 'hero',
    label: 'Hero',
    properties: [...messageProperties(), ...frameProperties()],
    needed: MESSAGE_NEEDED,
    width: 900,
    heights: { narrow: '28rem', wide: '22rem' },
    imageRatio: [16, 9],
    starters: [
      {
        name: 'Announcement',
        summary: 'Large, at the top of a page.',
        properties: () => ({
          headline: text('Something new is here'),
          body: text('Describe it in one or two sentences.'),
          button_text: text('See what is new'),
          link: text('/'),
        }),
      },
    ],
  }) as const satisfies TemplateEntry;
