import type { Look } from './template.ts';

/** An upright card for a column or a grid: picture on top, words below. */
export const CARD: Look = {
  dismissible: true,
  css: /* css */ `
.card { display: flex; flex-direction: column; }
.card .picture { flex: 0 0 auto; aspect-ratio: var(--placard-image-ratio, 16 / 10); inline-size: 100%; }
.card .content {
  display: flex;
  flex: 1 0 auto;
  flex-direction: column;
  align-items: flex-start;
  gap: calc(var(--space) * 0.875);
  padding: calc(var(--space) * 1.125) calc(var(--space) * 1.25) calc(var(--space) * 1.25);
}
.card .content:empty { display: none; }
.card .picture:has(+ .content:empty) { flex-grow: 1; }
.card .action { margin-block-start: auto; }
.card .headline { --lines: 3; font-size: 1.125rem; }
.card .body { --lines: 5; --above: 0.375rem; font-size: 0.9375rem; }
.card .dismiss { position: absolute; inset-block-start: 0.5rem; inset-inline-end: 0.5rem; }
.card[data-picture="none"] .words { padding-inline-end: 1.75rem; }
.card[data-picture="some"] .dismiss { background: var(--surface); }
.card[data-picture="some"] .dismiss:hover { background: color-mix(in srgb, var(--text) 14%, var(--surface)); }
`,
};
