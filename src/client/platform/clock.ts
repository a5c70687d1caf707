/** Clocks and timer of all parts. Tests pass a virtual clock. */
export interface Clock {
  /** Returns device time in Unix milliseconds. It jumps when the clock is set. */
  now(): number;
  /** Returns monotonic time in milliseconds, which may stop while the device sleeps. */
  monotonic(): number;
  /** Runs `callback` once after `delayMs`. Returns a function that cancels it. */
  after(delayMs: number, callback: () => void): () => void;
}

/** `setTimeout` fires at once for a delay of 2³¹ ms or more. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const createClock = ({
  now = () => Date.now(),
  monotonic = () => performance.now(),
  after = (delayMs, callback) => {
    const timer = setTimeout(callback, Math.min(Math.max(0, delayMs), MAX_TIMER_MS));
    return () => clearTimeout(timer);
  },
}: { [Name in keyof Clock]?: Clock[Name] | undefined } = {}): Clock => ({ now, monotonic, after });

/** Maximum wait for a frame, in milliseconds. Background tabs, prerendered pages and some webviews have none. */
const FRAME_TIMEOUT_MS = 100;

/** Resolves after the next frame was painted, or after the timeout. */
export const afterFrame = ({ after }: Pick<Clock, 'after'>): Promise<void> =>
  new Promise((resolve) => {
    after(FRAME_TIMEOUT_MS, resolve);
    // A frame callback runs before the paint. The task after it runs once the frame is on screen.
    globalThis.requestAnimationFrame?.(() => after(0, resolve));
  });
