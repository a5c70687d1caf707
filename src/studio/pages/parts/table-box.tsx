import type { ComponentChildren } from 'preact';
import './table.css';

interface TableBoxProps {
  label: string;
  /** On a phone each row is a block of lines, each with the `data-label` of its cell. */
  isStacked?: boolean;
  children: ComponentChildren;
}

/** A table that scrolls sideways where it has no room, by the keyboard too. */
export const TableBox = ({ label, isStacked = false, children }: TableBoxProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: without the focus a keyboard could not scroll it
  <section class="table-box" tabIndex={0} aria-label={label}>
    <table class={isStacked ? 'stacked' : undefined}>{children}</table>
  </section>
);

/** The head of a column of numbers. */
export const NumberHead = ({ children }: { children: ComponentChildren }) => (
  <th scope="col" class="number">
    {children}
  </th>
);
