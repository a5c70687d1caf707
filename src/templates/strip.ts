import { type TemplateEntry, text } from './catalogue.ts';
import { frameProperties, MESSAGE_NEEDED, messageProperties } from './properties.ts';
import type { TemplateDefinition } from './template.ts';

export const STRIP: TemplateDefinition = {
  dismissible: true,
  css: /* css */ `
.strip {
  display: flex;
  align-items: center;
  gap: calc(var(--space) * 0.75);
  padding: 0.625rem var(--space);
  font-size: 0.9375rem;
}
.strip .image { flex: none; align-self: start; inline-size: 2.5rem; block-size: 2.5rem; border-radius: calc(var(--radius) * 0.5); }
.strip .content {
  display: flex;
  flex: 1;
  flex-direction: column;
  align-items: flex-start;
  gap: 0.5rem;
  min-inline-size: 0;
  /* Centered; in a low box aligned to the top. */
  margin-block: auto;
}
.strip .dismiss { align-self: start; margin-inline-end: -0.75rem; }
/* Text stays selectable, because strips contain coupon codes. A link has a touch target of 44 px. */
.strip .content .stretched-link { position: relative; }
.strip .content .headline .stretched-link::after { inset: -0.75rem 0; }
.strip .content .action::after { content: none; }
.strip .body { font-size: 0.875rem; line-height: 1.4; }
.strip .action { font-size: 0.875rem; }
/* An image without text fills the strip. */
.strip[data-content="none"] { padding: 0; }
.strip[data-content="none"] .image { flex: 1; align-self: stretch; block-size: auto; min-block-size: 4rem; border-radius: 0; }
.strip[data-content="none"] .dismiss {
  --under-dismiss: var(--surface);
  position: absolute;
  inset-block-start: 0.5rem;
  inset-inline-end: 0.5rem;
  margin: -0.375rem;
}
/* On a phone with large text, the text takes the full width. */
@container (max-width: 16rem) {
  .strip { flex-wrap: wrap; }
  .strip .content { order: 1; flex-basis: 100%; }
  .strip .dismiss { margin-inline-start: auto; }
}
@container (min-width: 40rem) {
  .strip .content { flex-direction: row; align-items: center; justify-content: space-between; gap: var(--space); }
  .strip .action { flex: none; min-block-size: 2.25rem; max-inline-size: 40%; }
  .strip .image, .strip .dismiss { align-self: center; }
}
`,
};

export const stripEntry = () =>
  ({
    name: 'strip',
    label: 'Strip',
    properties: [...messageProperties(), ...frameProperties()],
    needed: MESSAGE_NEEDED,
    width: 700,
    heights: { narrow: '4rem', wide: '4rem' },
    imageRatio: [1, 1],
    starters: [
      {
        name: 'Notice',
        summary: 'One line across the page, dismissible.',
        properties: () => ({
          headline: text('We deliver a day later this week'),
          button_text: text('Why'),
          link: text('/'),
          dismissible: { type: 'boolean', value: true },
        }),
      },
    ],
  }) as const satisfies TemplateEntry;
