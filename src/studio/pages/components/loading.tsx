import { useSignal } from '@preact/signals';
import type { ComponentChildren, ComponentType } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { call, describeError } from '../call.ts';
import { Button } from './controls.tsx';
import { Problem } from './notices.tsx';

export type Loaded<Value> =
  | { state: 'loading' }
  | { state: 'failed'; message: string }
  | { state: 'ready'; value: Value };

const LOADING = { state: 'loading' } as const;

interface LoadOptions {
  /** Debounce of key changes, in milliseconds. */
  pauseMs?: number;
  /** Whether to show the previous value while the next key loads. Default: the loading state. */
  keepsLast?: boolean;
}

/**
 * Loads a value, and loads it again if the key changes. `again` reloads the same key and shows the old value in the meantime.
 * Ignores outdated responses.
 */
export const useLoad = <Value,>(
  load: (signal: AbortSignal) => Promise<Value>,
  key: string,
  { pauseMs = 0, keepsLast = false }: LoadOptions = {},
) => {
  const last = useSignal<{ of: string; loaded: Loaded<Value> }>({ of: key, loaded: LOADING });
  const latest = useRef<AbortController | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says when another thing is to be loaded
  const again = useCallback(async () => {
    latest.current?.abort();
    latest.current = new AbortController();
    const { signal } = latest.current;
    const tell = (loaded: Loaded<Value>) => {
      if (!signal.aborted) last.value = { of: key, loaded };
    };
    try {
      tell({ state: 'ready', value: await load(signal) });
    } catch (error) {
      tell({ state: 'failed', message: describeError(error) });
    }
  }, [key]);
  useEffect(() => {
    const timer = pauseMs > 0 ? setTimeout(again, pauseMs) : void again();
    return () => {
      clearTimeout(timer);
      latest.current?.abort();
    };
  }, [again, pauseMs]);

  const { of, loaded } = last.value;
  return { loaded: of === key || keepsLast ? loaded : LOADING, again };
};

/** Loads a resource of the API. */
export const useGet = <Value,>(path: string, options?: LoadOptions) =>
  useLoad((signal) => call<Value>('GET', path, { signal }), path, options);

/**
 * Moves the focus to the screen if a reload removed the focused element. Otherwise keyboard navigation would restart at the top
 * of the page.
 */
export const useFocusAfterReload = (loaded: Loaded<unknown>): void => {
  const isReload = useRef(false);
  useLayoutEffect(() => {
    if (isReload.current && document.activeElement === document.body)
      document.querySelector<HTMLElement>('main')?.focus({ preventScroll: true });
    isReload.current = loaded.state !== 'loading';
  }, [loaded]);
};

interface LoadViewProps<Value> {
  loaded: Loaded<Value>;
  again(): Promise<void>;
  /** Fills the page. */
  isPage?: boolean;
  children(value: Value): ComponentChildren;
}

/** Renders a loaded value, the loading state, or the error with a retry button. */
export const LoadView = <Value,>({ loaded, again, isPage = false, children }: LoadViewProps<Value>) => {
  useFocusAfterReload(loaded);
  if (loaded.state === 'loading') return <div aria-busy="true" />;
  if (loaded.state === 'ready') return <>{children(loaded.value)}</>;
  return (
    <Problem title={loaded.message} isPage={isPage}>
      <Button onClick={() => void again()}>Try again</Button>
    </Problem>
  );
};

interface ResourceProps<Value> {
  path: string;
  children(value: Value, again: () => Promise<void>): ComponentChildren;
}

/** Loads a resource of the API and renders it. */
export const Resource = <Value,>({ path, children }: ResourceProps<Value>) => {
  const { loaded, again } = useGet<Value>(path);
  return (
    <LoadView loaded={loaded} again={again}>
      {(value) => children(value, again)}
    </LoadView>
  );
};

interface LateProps<Props> {
  load(): Promise<ComponentType<Props>>;
  /** Fills the page. */
  isPage?: boolean;
  children(component: ComponentType<Props>): ComponentChildren;
}

/** Renders a component whose code is lazy-loaded. */
export const Late = <Props,>({ load, isPage = false, children }: LateProps<Props>) => {
  const { loaded, again } = useLoad(load, '');
  return (
    <LoadView loaded={loaded} again={again} isPage={isPage}>
      {children}
    </LoadView>
  );
};

/** Returns an action with its pending state and error message. Ignores calls while the action runs. */
export const useAction = <Given extends unknown[]>(act: (...given: Given) => Promise<void>) => {
  const problem = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  const run = async (...given: Given): Promise<void> => {
    if (isBusy.value) return;
    isBusy.value = true;
    problem.value = null;
    try {
      await act(...given);
    } catch (error) {
      problem.value = describeError(error);
    } finally {
      isBusy.value = false;
    }
  };
  return { problem, isBusy, run };
};

interface PagesProps<PageResponse> {
  first: PageResponse;
  /** Loads the page before a cursor. */
  read(before: string | number): Promise<PageResponse>;
  /** Label of the button that loads the next page. */
  moreName: string;
  children(pages: PageResponse[]): ComponentChildren;
}

/** Paginated list. */
export const Pages = <PageResponse extends { before: string | number | null }>(
  props: PagesProps<PageResponse>,
) => {
  const { first, read, moreName, children } = props;
  const more = useSignal<PageResponse[]>([]);
  const pages = [first, ...more.value];
  const { before } = pages.at(-1)!;
  const { problem, run } = useAction(async () => {
    if (before !== null) more.value = [...more.value, await read(before)];
  });
  return (
    <>
      {children(pages)}
      {before !== null && <Button onClick={() => void run()}>{moreName}</Button>}
      <p class="field-problem" role="alert">
        {problem.value}
      </p>
    </>
  );
};
