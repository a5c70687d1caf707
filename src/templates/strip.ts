import type { Look } from './template.ts';

/** One line across the page: a thumbnail, a few words, a button. */
export const STRIP: Look = {
  dismissible: true,
  css: /* css */ `
.strip {
  display: flex;
  align-items: center;
  gap: calc(var(--space) * 0.75);
  padding: 0.625rem var(--space);
  font-size: 0.9375rem;
}
.strip .picture { flex: none; inline-size: 2.5rem; block-size: 2.5rem; border-radius: calc(var(--radius) * 0.5); }
.strip .content {
  display: flex;
  flex: 1;
  flex-direction: column;
  align-items: flex-start;
  gap: 0.5rem;
  min-inline-size: 0;
}
.strip .dismiss { align-self: start; margin-inline-end: -0.375rem; }
/* Strips carry codes to copy, so their words stay words. */
.strip .content .cover::after { content: none; }
.strip .headline { --lines: 2; }
.strip .body { --lines: 2; font-size: 0.875rem; }
.strip .action { padding: 0.3em 0.9em; font-size: 0.875rem; }
@container (min-width: 40rem) {
  .strip .content { flex-direction: row; align-items: center; justify-content: space-between; gap: var(--space); }
  .strip .words { display: flex; flex-wrap: wrap; align-items: baseline; column-gap: 0.75ch; }
  .strip .headline, .strip .body { --lines: 1; }
  .strip .action { flex: none; max-inline-size: 40%; }
  .strip .dismiss { align-self: center; }
}
`,
};
