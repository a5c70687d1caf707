import { useEffect } from 'preact/hooks';

const POLL_MS = 1_000;

/** Reloads every `everyMs`, a second by default, while `isActive` and while the page is visible. */
export const usePolling = (again: () => Promise<void>, isActive: boolean, everyMs = POLL_MS): void => {
  useEffect(() => {
    if (!isActive) return;
    const timer = setInterval(() => void (document.hidden || again()), everyMs);
    return () => clearInterval(timer);
  }, [again, isActive, everyMs]);
};
