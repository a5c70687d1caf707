import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useErrorBoundary } from 'preact/hooks';
import { describeError } from '../call.ts';

interface ProblemProps {
  title: string;
  children?: ComponentChildren;
  /** Fills the page. */
  isPage?: boolean;
}

/** Error state with the problem and its solution. */
export const Problem = ({ title, children, isPage = false }: ProblemProps) => {
  const Heading = isPage ? 'h1' : 'h2';
  return (
    <div class="problem-box" role="alert">
      <Heading>{title}</Heading>
      {children}
    </div>
  );
};

/** Empty state of a list. */
export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty-box">
    <h2>{title}</h2>
    {children}
  </div>
);

/** Error boundary that renders a fallback, so that the rest of the page stays. */
export const Boundary = (props: {
  children: ComponentChildren;
  instead(reason: string): ComponentChildren;
}) => {
  const [error] = useErrorBoundary((thrown) => console.error(thrown));
  return <>{error === undefined ? props.children : props.instead(String(error))}</>;
};

const said = signal({ message: '', times: 0 });

/** Shows a toast and announces it to screen readers. */
export const announce = (message: string): void => {
  const times = said.value.times + 1;
  said.value = { message, times };
  setTimeout(() => {
    if (said.value.times === times) said.value = { message: '', times };
  }, 6_000);
};

/** Runs an action and shows the text that it resolves with, or its error. */
export const announceResult = async (act: () => Promise<string>): Promise<void> => {
  try {
    announce(await act());
  } catch (error) {
    announce(describeError(error));
  }
};

export const Announcer = () => (
  <div class="announcer" role="status">
    {said.value.message !== '' && <p key={said.value.times}>{said.value.message}</p>}
  </div>
);
