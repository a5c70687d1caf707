import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { wordsOf } from '../call.ts';

export type Loaded<Value> =
  | { state: 'loading' }
  | { state: 'failed'; words: string }
  | { state: 'ready'; value: Value };

/** Loads something when a screen opens; `again` loads it anew and shows the old one meanwhile. */
export const useLoad = <Value>(load: () => Promise<Value>, key: string) => {
  const [loaded, setLoaded] = useState<Loaded<Value>>({ state: 'loading' });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says when another thing is to be loaded
  const again = useCallback(async () => {
    try {
      setLoaded({ state: 'ready', value: await load() });
    } catch (error) {
      setLoaded({ state: 'failed', words: wordsOf(error) });
    }
  }, [key]);
  useEffect(() => void again(), [again]);

  const isReload = useRef(false);
  useLayoutEffect(() => {
    // What had the focus may be gone with what was shown before: the keyboard goes on from the screen, not from the top.
    if (isReload.current && document.activeElement === document.body)
      document.querySelector<HTMLElement>('main')?.focus({ preventScroll: true });
    isReload.current = loaded.state !== 'loading';
  }, [loaded]);
  return { loaded, again };
};
