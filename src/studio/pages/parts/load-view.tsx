import type { ComponentChildren } from 'preact';
import { Problem } from './problem.tsx';
import type { Loaded } from './use-load.ts';

interface LoadViewProps<Value> {
  loaded: Loaded<Value>;
  again(): Promise<void>;
  /** There is nothing else on the page. */
  isPage?: boolean;
  children(value: Value): ComponentChildren;
}

/** What was loaded; until then nothing, and where it failed the reason and a way to try again. */
export const LoadView = <Value,>({ loaded, again, isPage = false, children }: LoadViewProps<Value>) => {
  if (loaded.state === 'loading') return <div aria-busy="true" />;
  if (loaded.state === 'ready') return <>{children(loaded.value)}</>;
  return (
    <Problem title={loaded.words} isPage={isPage}>
      <button type="button" class="button" onClick={() => void again()}>
        Try again
      </button>
    </Problem>
  );
};
