import type { Clock } from '../platform/clock.ts';
import { onCoverChange } from './cover-changes.ts';
import { getArea, measureVisibility } from './visibility.ts';

/** MRC viewability rule for display ads: minimum share of pixels, and continuous time in view. */
const SHARE = 0.5;
const LARGE_SHARE = 0.3;
/** Area in square CSS pixels from which `LARGE_SHARE` applies. */
const LARGE_AREA = 242_500;
const DWELL_MS = 1_000;
/** A timer that is late by more than this indicates that the device slept. */
const LATE_MS = 1_000;
/** Check interval during the required second, to detect short interruptions. */
const CHECK_MS = 200;
/** First check delay of an invisible banner. It doubles up to `CHECK_MS`. */
const FIRST_CHECK_MS = 16;
/** Check interval of a covered banner without a change event. It may stay covered for long, for example by a consent dialog. */
const COVERED_CHECK_MS = 2_000;

export interface ViewabilityOptions {
  element: HTMLElement;
  /** Returns `true` for a control banner, which has no pixels, so that the slot is measured. */
  isControl: () => boolean;
  /** Returns `true` while the banner's impression is not counted yet. */
  isWaiting: () => boolean;
  /** Called when the rule is met. */
  onSeen: () => void;
  /** Called when the element left the view or the page. */
  onLeft: () => void;
  /** Called when the element's size may have changed. */
  onSize: () => void;
  isVisible: () => boolean;
  clock: Clock;
  Observer: typeof IntersectionObserver;
}

/** The parent page may hide or cover a framed page. */
const IS_FRAMED = globalThis.self !== globalThis.top;

const requiredShare = (area: number): number => (area >= LARGE_AREA ? LARGE_SHARE : SHARE);

/**
 * Watches one slot and calls `onSeen` when its banner was viewable: at least 50% of its pixels (30% of a large one) on a
 * visible page for one continuous second. Timestamps measure the time; timers only schedule checks.
 */
export const watchViewability = (options: ViewabilityOptions) => {
  const { element, isControl, isWaiting, onSeen, onLeft, onSize, isVisible, clock, Observer } = options;
  const { monotonic, now, after } = clock;
  let entry: IntersectionObserverEntry | undefined;
  /** Start of the required second, and time of its last check. */
  let began: number | undefined;
  let last = { monotonic: 0, wall: 0 };
  let cancel: (() => void) | undefined;
  let wasLate = false;
  let { ownerDocument } = element;
  /** Whether the last check found the slot covered, and no later event may have uncovered it. */
  let isCovered = false;
  let stopCoverChanges: (() => void) | undefined;
  let nextWaitMs = FIRST_CHECK_MS;
  /** Whether the slot has had nodes. If none is left or displayed, they were removed. */
  let wasFilled = element.hasChildNodes();

  const isBusy = () => element.getAttribute('aria-busy') === 'true';
  const area = () => (entry ? getArea(entry.boundingClientRect) : 0);
  const isInView = () => entry?.isIntersecting === true && isVisible();

  const meetsShare = (): boolean => {
    // A cross-origin parent may hide or cover this frame. If the engine reports this, the report decides.
    if (!isInView() || (IS_FRAMED && Object(entry).isVisible === false)) return false;
    if (isControl()) return area() === 0 || entry!.intersectionRatio >= requiredShare(area());
    // A loading slot counts as empty, whatever size the page has given it.
    return area() > 0 && !isBusy() && entry!.intersectionRatio >= requiredShare(area());
  };

  const measure = () =>
    measureVisibility({
      slot: element,
      entry: entry!,
      isControl: isControl(),
      wasFilled,
      requiredShare: requiredShare(area()),
      wasCovered: isCovered,
    });

  /** Listens for events that may uncover the slot while it is covered. */
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
    if (isWaiting()) begin(FIRST_CHECK_MS);
  };

  /** Starts the required second once the banner is visible. */
  const begin = (waitMs: number): void => {
    const seen = meetsShare() ? measure() : 'invisible';
    setCovered(seen === 'covered');
    if (seen === 'visible') {
      began = monotonic();
      last = { monotonic: began, wall: now() };
      cancel = after(CHECK_MS, check);
      return;
    }
    // If the slot is out of view or below the required share, the observer reports a change. In another window it reports nothing
    // once that window closes.
    if (ownerDocument === globalThis.document && (!isInView() || (area() > 0 && !meetsShare()))) return;
    checkAgain(waitMs);
  };

  const checkAgain = (waitMs: number): void => {
    nextWaitMs = Math.min(2 * waitMs, isCovered ? COVERED_CHECK_MS : CHECK_MS);
    cancel = after(waitMs, () => {
      if (element.ownerDocument !== ownerDocument) {
        restart();
        return;
      }
      const isFilled = entry && area() === 0 && getArea(element.getBoundingClientRect()) > 0;
      if (!isFilled || isControl()) {
        begin(nextWaitMs);
        return;
      }
      // An empty slot in view counts as fully visible, and the observer does not report when a banner gives it a height. A
      // `ResizeObserver` would, but WebKit lays container queries out in two steps, and a watched size that the second step
      // changes is an error event of the page ("ResizeObserver loop completed with undelivered notifications").
      observer.disconnect();
      observer.observe(element);
    });
  };

  /** Checks a covered slot soon, then with growing delays, because an animation may still be running. */
  const onChange = (): void => {
    if (nextWaitMs <= 2 * CHECK_MS) return;
    isCovered = false;
    cancel?.();
    checkAgain(FIRST_CHECK_MS);
  };

  /** Returns whether the device or the timers were suspended since the last check. */
  const slept = (elapsed: number, wall: number): boolean => {
    // The monotonic clock may stop while the device sleeps. The wall clock does not.
    if (wall - elapsed > LATE_MS) return true;
    // If both clocks ran, one late timer may mean sleep. Two late timers in a row mean throttled timers with correct timestamps.
    const isFirst = elapsed > CHECK_MS + LATE_MS && !wasLate;
    wasLate = elapsed > CHECK_MS + LATE_MS;
    return isFirst;
  };

  const check = (): void => {
    const at = { monotonic: monotonic(), wall: now() };
    const isAwake = !slept(at.monotonic - last.monotonic, at.wall - last.wall);
    last = at;
    if (!isAwake || began === undefined || !isWaiting() || !meetsShare() || measure() !== 'visible') {
      restart();
      return;
    }
    const leftMs = began + DWELL_MS - at.monotonic;
    if (leftMs > 0) {
      cancel = after(Math.min(CHECK_MS, leftMs), check);
      return;
    }
    began = undefined;
    // Late content, such as an image, is loaded by now.
    onSize();
    onSeen();
  };

  const createObserver = (Watcher: typeof IntersectionObserver) =>
    new Watcher(
      (entries) => {
        // An element that was in view only before the first frame has also left the view.
        const wasIntersecting = entry?.isIntersecting ?? true;
        const met = meetsShare();
        entry = entries.at(-1);
        onSize();
        if (!met || !meetsShare()) restart();
        if (!element.isConnected || (wasIntersecting && !entry?.isIntersecting)) onLeft();
      },
      {
        threshold: [0, LARGE_SHARE, SHARE, 1],
        // Supported only by Chromium, which requires a delay with it. Within a page it also rejects slightly covered elements.
        ...(IS_FRAMED && { trackVisibility: true, delay: 100 }),
      },
    );
  let observer = createObserver(Observer);
  observer.observe(element);
  /** Moves the observer to the slot's document. An observer works only for the window of its own document. */
  const follow = (): void => {
    if (element.ownerDocument === ownerDocument) return;
    ownerDocument = element.ownerDocument;
    observer.disconnect();
    entry = undefined;
    observer = createObserver(ownerDocument.defaultView?.IntersectionObserver ?? Observer);
    observer.observe(element);
  };
  let wasBusy = isBusy();
  const slotObserver = new MutationObserver((changes) => {
    wasFilled ||= changes.some(({ addedNodes }) => addedNodes.length > 0);
    // A page may set `aria-busy` repeatedly.
    if (isBusy() === wasBusy) return;
    wasBusy = !wasBusy;
    restart();
  });
  slotObserver.observe(element, { attributeFilter: ['aria-busy'], childList: true });

  return {
    /** Restarts the required second after a change of the banner or the page's visibility. */
    restart,
    /** Returns the progress of the rule, and the conditions that block it. */
    inspect() {
      const seen = entry?.isIntersecting ? measure() : 'visible';
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
