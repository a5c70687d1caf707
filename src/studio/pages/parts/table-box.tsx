import type { ComponentChildren } from 'preact';

/** A table that scrolls sideways where it has no room, by the keyboard too. */
export const TableBox = ({ label, children }: { label: string; children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: without the focus a keyboard could not scroll it
  <section class="table-box" tabIndex={0} aria-label={label}>
    <table>{children}</table>
  </section>
);
