/** The clocks and the timer that all parts use. Tests pass a virtual one. */
export interface Clock {
  /** Unix milliseconds by the device's clock, which jumps when it is set. */
  now(): number;
  /** Milliseconds that never go back. They may stand still while the computer sleeps. */
  monotonic(): number;
  /** Runs `callback` once after `delayMs` and returns a function that cancels it. */
  after(delayMs: number, callback: () => void): () => void;
}

/** `setTimeout` fires at once for a delay of 2³¹ ms or more. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The browser's clock, piece by piece replaceable. */
export const createClock = ({
  now = () => Date.now(),
  monotonic = () => performance.now(),
  after = (delayMs, callback) => {
    const timer = setTimeout(callback, Math.min(Math.max(0, delayMs), MAX_TIMER_MS));
    return () => clearTimeout(timer);
  },
}: { [Name in keyof Clock]?: Clock[Name] | undefined } = {}): Clock => ({ now, monotonic, after });

/** Where no frame comes (a background tab, a prerendered page, a webview without frames) it is waited for this long. */
const FRAME_TIMEOUT_MS = 100;

/** Resolves when what is in the page now has had its chance to be painted. */
export const afterFrame = ({ after }: Pick<Clock, 'after'>): Promise<void> =>
  new Promise((resolve) => {
    after(FRAME_TIMEOUT_MS, resolve);
    // In a frame callback the frame is still to be drawn; the task after it comes when it is on screen.
    globalThis.requestAnimationFrame?.(() => after(0, resolve));
  });
