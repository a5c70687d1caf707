import { CARD } from './card.ts';
import type { Look } from './template.ts';

/** A card with two buttons side by side, for a question with two answers: each leads somewhere, and needs no form. */
export const CHOICE: Look = {
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
