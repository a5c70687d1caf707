import type { Placard } from '../client/index.ts';
import { recordHistory } from './history.ts';

const FLAG = 'placard-devtools';

/** Whether the page's address asks for the devtools, or an earlier one of this tab did. */
const isRequested = (): boolean => {
  const isInAddress = new URLSearchParams(location.search).has(FLAG);
  try {
    if (isInAddress) sessionStorage.setItem(FLAG, '');
    return sessionStorage.getItem(FLAG) !== null;
  } catch {
    // Blocked storage: each page needs the flag in its own address.
    return isInAddress;
  }
};

/** The next page of the tab opens without them. */
const forgetRequest = (): void => {
  try {
    sessionStorage.removeItem(FLAG);
  } catch {
    // Blocked storage holds nothing of ours.
  }
};

/** When and where the devtools open. */
export interface DevtoolsOptions {
  /**
   * `'query'` opens them only where the page's address has `?placard-devtools`, and then on every page of the tab until they
   * are closed. Default `'always'`.
   */
  when?: 'always' | 'query' | undefined;
  /** Draws into this element. Default: a window over the page, which can be moved. */
  into?: HTMLElement | undefined;
}

/**
 * Opens the devtools, which say for each placement what is shown and why not. Returns how to close them. This is all that
 * a page loads where they stay closed: the panel is a chunk of its own. Opened early they show the first notices as well.
 */
export const openDevtools = (placard: Placard, options: DevtoolsOptions = {}): (() => void) => {
  const { when = 'always', into } = options;
  // On a server there is no page to draw on.
  if (typeof document === 'undefined' || (when === 'query' && !isRequested())) return () => undefined;
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
    openPanel({ placard, inspector, history, into, signal, close });
  };
  open().catch((cause) => {
    // Who opens devtools looks at the console next.
    console.error('The Placard devtools did not load. Check that their chunk is served:', cause);
    abort.abort();
  });
  return () => abort.abort();
};
