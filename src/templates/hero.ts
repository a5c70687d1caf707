import type { Look } from './template.ts';

/**
 * The large one. Words stand beside the picture and never on it, so that no photograph can make them unreadable.
 */
export const HERO: Look = {
  dismissible: false,
  css: /* css */ `
.hero { display: grid; grid-template-rows: auto minmax(0, 1fr); }
.hero .picture { aspect-ratio: var(--placard-image-ratio, 16 / 9); }
.hero .content {
  display: flex;
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
.hero[data-picture="some"] .dismiss { --under-dismiss: var(--surface); }
/* One of the two alone has the whole box: a picture to its edges, words in the middle. */
.hero[data-picture="none"], .hero[data-words="none"] { grid-template-rows: minmax(0, 1fr); }
.hero[data-words="none"] .picture { block-size: 100%; }
.hero[data-picture="none"] .content { align-items: center; text-align: center; }
.hero[data-picture="none"] .headline { font-size: clamp(1.5rem, 6cqi, 3.5rem); }
@container (min-width: 42rem) {
  .hero { min-block-size: 20rem; grid-template: minmax(0, 1fr) / minmax(0, 1fr); }
  .hero[data-picture="some"][data-words="some"] { grid-template-columns: minmax(0, 11fr) minmax(0, 10fr); }
  .hero .picture { order: 2; aspect-ratio: auto; block-size: 100%; }
  .hero .content { padding: calc(var(--space) * 2) clamp(calc(var(--space) * 2), 5cqi, calc(var(--space) * 4)); }
}
`,
};
