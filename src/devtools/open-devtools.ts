import type { Placard } from '../client/index.ts';
import { recordHistory } from './history.ts';

const FLAG = 'placard-devtools';

/** Returns whether the URL of this page, or of an earlier page in this tab, requests the devtools. */
const isRequested = (): boolean => {
  const isInAddress = new URLSearchParams(location.search).has(FLAG);
  try {
    if (isInAddress) sessionStorage.setItem(FLAG, '');
    return sessionStorage.getItem(FLAG) !== null;
  } catch {
    // With blocked storage, each page needs the flag in its own URL.
    return isInAddress;
  }
};

/** Clears the request, so that the next page in this tab opens without devtools. */
const forgetRequest = (): void => {
  try {
    sessionStorage.removeItem(FLAG);
  } catch {
    // Blocked storage has nothing to clear.
  }
};

/** Options of `openDevtools`. */
export interface DevtoolsOptions {
  /**
   * `'query'` opens the devtools only if the page's URL has `?placard-devtools`, and then on every page of the tab until they are
   * closed. Default `'always'`.
   */
  activation?: 'always' | 'query' | undefined;
  /** Element to render into. Default: a movable window over the page. */
  container?: HTMLElement | undefined;
}

/**
 * Opens the devtools, which explain the content of each placement. Returns a function that closes them. Loads the panel on
 * demand. Call it early to include the first notices.
 */
export const openDevtools = (placard: Placard, options: DevtoolsOptions = {}): (() => void) => {
  const { activation = 'always', container } = options;
  // On a server, there is no document.
  if (typeof document === 'undefined' || (activation === 'query' && !isRequested())) return () => undefined;
  const history = recordHistory(placard);
  const abort = new AbortController();
  const { signal } = abort;
  signal.addEventListener('abort', history.stop);

  const open = async (): Promise<void> => {
    const [{ openPanel }, inspector] = await Promise.all([import('./panel.ts'), placard.inspect()]);
    if (signal.aborted) return;
    const close = (): void => {
      forgetRequest();
      abort.abort();
    };
    openPanel({ placard, inspector, history, container, signal, close });
  };
  open().catch((cause) => {
    // Logged, because developers look at the console next.
    console.error('Placard devtools failed to load. Check that their chunk is served:', cause);
    abort.abort();
  });
  return () => abort.abort();
};
