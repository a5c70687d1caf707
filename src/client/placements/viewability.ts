import type { Clock } from '../platform/clock.ts';
import { hasVisibleContent } from './visible-content.ts';

/** The viewability rule of the Media Rating Council for display: share of pixels, and how long without a break. */
const SHARE = 0.5;
const LARGE_SHARE = 0.3;
/** From this many CSS square pixels on, the smaller share is enough. */
const LARGE_AREA = 242_500;
const DWELL_MS = 1_000;
/** A timer that comes this much too late slept with the machine. */
const LATE_MS = 1_000;
/** A slot that is still empty is looked at again after this time, then after twice as long, and so on. */
const FIRST_SIZE_MS = 16;
/** A grid of this many points a side decides whether something lies on top. */
const PROBES = 3;

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

const areaOf = ({ width, height }: DOMRectReadOnly): number => width * height;

const requiredShare = (area: number): number => (area >= LARGE_AREA ? LARGE_SHARE : SHARE);

/** Whether it is hidden, or something covers most of it: a dialog, a cookie bar, a sticky header. */
const isCovered = (element: HTMLElement, entry: IntersectionObserverEntry): boolean => {
  const root = element.getRootNode() as Document | ShadowRoot;
  const { visibility, pointerEvents } = getComputedStyle(element);
  // Hit tests pass through what takes no pointer events, so they say nothing about such a banner.
  if (!root.elementsFromPoint || pointerEvents === 'none') return false;
  // The entry holds what was visible when a threshold was crossed; the page may have scrolled a little since.
  const moved = element.getBoundingClientRect();
  const { boundingClientRect: then, intersectionRect: visible } = entry;
  let free = 0;
  for (let probe = 0; probe < PROBES * PROBES; probe++) {
    const x = moved.left - then.left + visible.left + (visible.width * ((probe % PROBES) + 0.5)) / PROBES;
    const y =
      moved.top - then.top + visible.top + (visible.height * (Math.floor(probe / PROBES) + 0.5)) / PROBES;
    const [top, ...below] = root.elementsFromPoint(x, y);
    // Beside the corners of a rotated slot, and through an inert one, an ancestor is hit. It lies below, unless it draws
    // something over the slot, as a veil by `::after` does: then the slot is hit as well.
    const isAround = top && (top.contains(element) || top === (root as ShadowRoot).host);
    const isBelow = isAround && visibility !== 'hidden' && !below.some((each) => element.contains(each));
    if (!top || element.contains(top) || isBelow) free++;
  }
  return free * 2 < PROBES * PROBES;
};

/**
 * Watches one slot and calls back when its banner has been seen: at least half of its pixels (30 % of a large one) on a
 * visible page for one second without a break. Time comes from timestamps; a timer only says when to look.
 */
export const watchViewability = (options: ViewabilityOptions) => {
  const { element, isControl, isWaiting, onSeen, onLeft, onSize, isVisible, clock, Observer } = options;
  const { monotonic, now, after } = clock;
  let entry: IntersectionObserverEntry | undefined;
  let since: { monotonic: number; wall: number } | undefined;
  let cancel: (() => void) | undefined;
  let wasLate = false;
  /** Nodes have been in the slot: where none is left, or none displayed, they were taken away. */
  let wasFilled = element.hasChildNodes();

  const isBusy = () => element.getAttribute('aria-busy') === 'true';
  const isInvisible = () => !hasVisibleContent(element, wasFilled);

  const meetsShare = (): boolean => {
    if (!entry?.isIntersecting || !isVisible()) return false;
    const area = areaOf(entry.boundingClientRect);
    if (area === 0) return isControl();
    // Content that is still loading: nothing is drawn yet, whatever box the page has given the slot.
    if (isBusy() && !isControl()) return false;
    return entry.intersectionRatio >= requiredShare(area);
  };

  const restart = (): void => {
    cancel?.();
    since = undefined;
    if (!isWaiting()) return;
    if (meetsShare()) {
      since = { monotonic: monotonic(), wall: now() };
      cancel = after(DWELL_MS, look);
    } else if (entry?.isIntersecting && isVisible() && areaOf(entry.boundingClientRect) === 0) {
      awaitSize(FIRST_SIZE_MS);
    }
  };

  /**
   * An empty slot in view counts as wholly visible, and the observer does not call when a banner gives it a height. A
   * ResizeObserver would, but WebKit lays container queries out in two steps, and a watched size that the second one
   * changes is an error event of the page ("ResizeObserver loop completed with undelivered notifications").
   */
  const awaitSize = (waitMs: number): void => {
    cancel = after(waitMs, () => {
      if (areaOf(element.getBoundingClientRect()) === 0) awaitSize(Math.min(2 * waitMs, DWELL_MS));
      else {
        observer.disconnect();
        observer.observe(element);
      }
    });
  };

  /** True where the second that seems to be over was not spent looking. */
  const slept = (elapsed: number, wall: number): boolean => {
    // The monotonic clock may stand still while the machine sleeps, the wall clock does not.
    if (wall - elapsed > LATE_MS) return true;
    // Where both run on, one late timer may be sleep; two in a row are throttled timers, and the timestamps are right.
    const isFirst = elapsed > DWELL_MS + LATE_MS && !wasLate;
    wasLate = elapsed > DWELL_MS + LATE_MS;
    return isFirst;
  };

  const look = (): void => {
    const elapsed = since ? monotonic() - since.monotonic : 0;
    const wall = since ? now() - since.wall : 0;
    const isWatching = since !== undefined && isWaiting() && meetsShare();
    if (isWatching && elapsed < DWELL_MS) {
      cancel = after(DWELL_MS - elapsed, look);
      return;
    }
    const canBeSeen = () => isControl() || (!isInvisible() && !isCovered(element, entry!));
    // A banner that is hidden or covered now is looked at again after another second.
    const isCounted = isWatching && !slept(elapsed, wall) && canBeSeen();
    if (!isCounted) {
      restart();
      return;
    }
    since = undefined;
    // What came late, such as a picture, is here by now.
    onSize();
    onSeen();
  };

  const observer = new Observer(
    (entries) => {
      // What was in view before the first frame, and is not any more, has left it as well.
      const wasIntersecting = entry?.isIntersecting ?? true;
      const met = meetsShare();
      entry = entries.at(-1);
      onSize();
      if (!met || !meetsShare()) restart();
      if (!element.isConnected || (wasIntersecting && !entry?.isIntersecting)) onLeft();
    },
    { threshold: [0, LARGE_SHARE, SHARE, 1] },
  );
  observer.observe(element);
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
    inspect: () => ({
      dwellMs: since ? monotonic() - since.monotonic : 0,
      requiredMs: DWELL_MS,
      requiredShare: requiredShare(entry ? areaOf(entry.boundingClientRect) : 0),
      isCovered: entry?.isIntersecting === true && isCovered(element, entry),
      isInvisible: isInvisible(),
      isBusy: isBusy(),
    }),
    stop(): void {
      cancel?.();
      since = undefined;
      observer.disconnect();
      slotObserver.disconnect();
    },
  };
};
