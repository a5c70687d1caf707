import type { Clock } from '../platform/clock.ts';
import { onCoverChange } from './cover-changes.ts';
import { areaOf, lookAt } from './visible-pixels.ts';

/** The viewability rule of the Media Rating Council for display: share of pixels, and how long without a break. */
const SHARE = 0.5;
const LARGE_SHARE = 0.3;
/** From this many CSS square pixels on, the smaller share is enough. */
const LARGE_AREA = 242_500;
const DWELL_MS = 1_000;
/** A timer that comes this much too late slept with the machine. */
const LATE_MS = 1_000;
/** Within its second a banner is looked at this often: what hid it for a part of the second is found. */
const LOOK_MS = 200;
/** What cannot be seen is looked at again after this time, then after twice as long, up to `LOOK_MS`. */
const FIRST_LOOK_MS = 16;
/** What is covered, by a consent dialog for one, may stay so for long. It is looked at this often if no sign comes. */
const COVERED_LOOK_MS = 2_000;

export interface ViewabilityOptions {
  element: HTMLElement;
  /** True for a control banner: there are no pixels to count, so the slot alone decides. */
  isControl: () => boolean;
  /** True while there is a banner whose impression is not counted yet. */
  isWaiting: () => boolean;
  /** The rule is met. */
  onSeen: () => void;
  /** The element left the view, or the page. */
  onLeft: () => void;
  /** The element may have another size. */
  onSize: () => void;
  isVisible: () => boolean;
  clock: Clock;
  Observer: typeof IntersectionObserver;
}

/** A page in a frame may be hidden, or covered, by its parent. */
const IS_FRAMED = globalThis.self !== globalThis.top;

const requiredShare = (area: number): number => (area >= LARGE_AREA ? LARGE_SHARE : SHARE);

/**
 * Watches one slot and calls back when its banner has been seen: at least half of its pixels (30 % of a large one) on a
 * visible page for one second without a break. Time comes from timestamps; a timer only says when to look.
 */
export const watchViewability = (options: ViewabilityOptions) => {
  const { element, isControl, isWaiting, onSeen, onLeft, onSize, isVisible, clock, Observer } = options;
  const { monotonic, now, after } = clock;
  let entry: IntersectionObserverEntry | undefined;
  /** When the second began, and when the banner was last looked at within it. */
  let began: number | undefined;
  let last = { monotonic: 0, wall: 0 };
  let cancel: (() => void) | undefined;
  let wasLate = false;
  let { ownerDocument } = element;
  /** The last look has found the slot covered, and nothing has happened since that may have changed it. */
  let isCovered = false;
  let stopCoverChanges: (() => void) | undefined;
  let nextWaitMs = FIRST_LOOK_MS;
  /** Nodes have been in the slot: where none is left, or none displayed, they were taken away. */
  let wasFilled = element.hasChildNodes();

  const isBusy = () => element.getAttribute('aria-busy') === 'true';
  const area = () => (entry ? areaOf(entry.boundingClientRect) : 0);
  const isInView = () => entry?.isIntersecting === true && isVisible();

  const meetsShare = (): boolean => {
    // A parent of another origin may hide or cover this frame. Where the engine tells, that decides.
    if (!isInView() || (IS_FRAMED && Object(entry).isVisible === false)) return false;
    if (isControl()) return area() === 0 || entry!.intersectionRatio >= requiredShare(area());
    // Content that is still loading: nothing is drawn yet, whatever box the page has given the slot.
    return area() > 0 && !isBusy() && entry!.intersectionRatio >= requiredShare(area());
  };

  const sight = () =>
    lookAt({
      slot: element,
      entry: entry!,
      isControl: isControl(),
      wasFilled,
      requiredShare: requiredShare(area()),
      wasCovered: isCovered,
    });

  /** While the slot is covered, listens to what may uncover it. */
  const setCovered = (isNow: boolean): void => {
    isCovered = isNow;
    if (isNow) stopCoverChanges ??= onCoverChange(element.ownerDocument, onChange);
    else {
      stopCoverChanges?.();
      stopCoverChanges = undefined;
    }
  };

  const restart = (): void => {
    follow();
    cancel?.();
    began = undefined;
    setCovered(false);
    if (isWaiting() && isInView()) begin(FIRST_LOOK_MS);
  };

  /** Begins the second once the banner can be seen. */
  const begin = (waitMs: number): void => {
    const seen = meetsShare() ? sight() : 'invisible';
    setCovered(seen === 'covered');
    if (seen === 'visible') {
      began = monotonic();
      last = { monotonic: began, wall: now() };
      cancel = after(LOOK_MS, look);
      return;
    }
    // Out of view, or less of it than is required: the observer calls when that changes.
    if (!isInView() || (area() > 0 && !meetsShare())) return;
    lookAgain(waitMs);
  };

  const lookAgain = (waitMs: number): void => {
    nextWaitMs = Math.min(2 * waitMs, isCovered ? COVERED_LOOK_MS : LOOK_MS);
    cancel = after(waitMs, () => {
      const isFilled = area() === 0 && areaOf(element.getBoundingClientRect()) > 0;
      if (!isFilled || isControl()) {
        begin(nextWaitMs);
        return;
      }
      // An empty slot in view counts as wholly visible, and the observer does not call when a banner gives it a height. A
      // ResizeObserver would, but WebKit lays container queries out in two steps, and a watched size that the second one
      // changes is an error event of the page ("ResizeObserver loop completed with undelivered notifications").
      observer.disconnect();
      observer.observe(element);
    });
  };

  /** Looks at all of a covered slot soon, and then less and less often: an animation may still have to end. */
  const onChange = (): void => {
    if (nextWaitMs <= 2 * LOOK_MS) return;
    isCovered = false;
    cancel?.();
    lookAgain(FIRST_LOOK_MS);
  };

  /** True where the time since the last look was not spent looking. */
  const slept = (elapsed: number, wall: number): boolean => {
    // The monotonic clock may stand still while the machine sleeps, the wall clock does not.
    if (wall - elapsed > LATE_MS) return true;
    // Where both run on, one late timer may be sleep; two in a row are throttled timers, and the timestamps are right.
    const isFirst = elapsed > LOOK_MS + LATE_MS && !wasLate;
    wasLate = elapsed > LOOK_MS + LATE_MS;
    return isFirst;
  };

  const look = (): void => {
    const at = { monotonic: monotonic(), wall: now() };
    const isAwake = !slept(at.monotonic - last.monotonic, at.wall - last.wall);
    last = at;
    if (!isAwake || began === undefined || !isWaiting() || !meetsShare() || sight() !== 'visible') {
      restart();
      return;
    }
    const leftMs = began + DWELL_MS - at.monotonic;
    if (leftMs > 0) {
      cancel = after(Math.min(LOOK_MS, leftMs), look);
      return;
    }
    began = undefined;
    // What came late, such as a picture, is here by now.
    onSize();
    onSeen();
  };

  const createObserver = (Watcher: typeof IntersectionObserver) =>
    new Watcher(
      (entries) => {
        // What was in view before the first frame, and is not any more, has left it as well.
        const wasIntersecting = entry?.isIntersecting ?? true;
        const met = meetsShare();
        entry = entries.at(-1);
        onSize();
        if (!met || !meetsShare()) restart();
        if (!element.isConnected || (wasIntersecting && !entry?.isIntersecting)) onLeft();
      },
      {
        threshold: [0, LARGE_SHARE, SHARE, 1],
        // Known to Chromium alone, which asks for a delay with it. Within a page it also refuses what is covered a little.
        ...(IS_FRAMED && { trackVisibility: true, delay: 100 }),
      },
    );
  let observer = createObserver(Observer);
  observer.observe(element);
  /** An observer sees the windows of its own tab alone: a slot that was moved into another document needs one of that document. */
  const follow = (): void => {
    if (element.ownerDocument === ownerDocument) return;
    ownerDocument = element.ownerDocument;
    observer.disconnect();
    entry = undefined;
    observer = createObserver(
      (ownerDocument.defaultView as (Window & typeof globalThis) | null)?.IntersectionObserver ?? Observer,
    );
    observer.observe(element);
  };
  let wasBusy = isBusy();
  const slotObserver = new MutationObserver((changes) => {
    wasFilled ||= changes.some(({ addedNodes }) => addedNodes.length > 0);
    // A page may write it again and again.
    if (isBusy() === wasBusy) return;
    wasBusy = !wasBusy;
    restart();
  });
  slotObserver.observe(element, { attributeFilter: ['aria-busy'], childList: true });

  return {
    /** The banner or the page's visibility has changed: the second starts anew. */
    restart,
    /** How far the rule is met at this moment, and what it waits for. */
    inspect() {
      const seen = entry?.isIntersecting ? sight() : 'visible';
      return {
        dwellMs: began === undefined ? 0 : monotonic() - began,
        requiredMs: DWELL_MS,
        requiredShare: requiredShare(area()),
        isCovered: seen === 'covered',
        isInvisible: seen === 'invisible',
        isBusy: isBusy(),
      };
    },
    stop(): void {
      cancel?.();
      began = undefined;
      setCovered(false);
      observer.disconnect();
      slotObserver.disconnect();
    },
  };
};

export type Viewability = ReturnType<typeof watchViewability>;
