import type { Clock } from './clock.ts';

/** Where no frame comes (a background tab, a prerendered page, a webview without frames) it is waited for this long. */
const FRAME_TIMEOUT_MS = 100;

/** Resolves when what is in the page now has had its chance to be painted. */
export const afterFrame = ({ after }: Pick<Clock, 'after'>): Promise<void> =>
  new Promise((resolve) => {
    after(FRAME_TIMEOUT_MS, resolve);
    // In a frame callback the frame is still to be drawn; the task after it comes when it is on screen.
    globalThis.requestAnimationFrame?.(() => after(0, resolve));
  });
