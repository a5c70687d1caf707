import type { ComponentChildren } from 'preact';

/** In the place of what cannot be shown: what is wrong, and what to do. */
export const Problem = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="problem-box" role="alert">
    <h2>{title}</h2>
    {children}
  </div>
);

/** In the place of a list with nothing in it. */
export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty-box">
    <h2>{title}</h2>
    {children}
  </div>
);
