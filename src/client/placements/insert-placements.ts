import type { PLACEMENTS_PATH, SelectorPlacement } from '../../protocol/index.ts';
import type { SessionPart, SessionPartOptions } from '../session-part.ts';
import { changeUnseen, renderContainer } from './slot-container.ts';

/** Repeated, because a module that two deferred chunks share breaks on pages that extend `Object.prototype`. */
const PATH: typeof PLACEMENTS_PATH = '/placard/placements';
/** Maximum age of the list, in milliseconds. A new placement reaches every browser within this time. */
const FRESH_MS = 5 * 60_000;
/** Interval between checks of the page, in milliseconds. */
const REFRESH_MS = 200;
/** Time for a page to render the element of a selector, in milliseconds, before it counts as missing. */
const MISSING_MS = 5_000;
/** Maximum number of times that the page removes a container before the placement is left out. */
const MAX_RETURNS = 3;

const POSITIONS = {
  before: 'beforebegin',
  after: 'afterend',
  prepend: 'afterbegin',
  append: 'beforeend',
} as const;

const NO_MATCH = 'its selector has no match';

interface Insertion {
  /** Inserted element that contains the slot. */
  container?: HTMLElement | undefined;
  unmount?: (() => void) | undefined;
  /** Element next to which, or in which, the container was inserted. */
  anchor?: Element;
  isControl?: boolean;
  /** Whether the selector has matched since the last change of the path. */
  isFound?: boolean;
  /** Number of times that the page removed the container and kept its anchor. */
  returns: number;
  /**
   * Position of the anchor when the container would have caused a layout shift. The container is not tried again until the anchor
   * moves.
   */
  blockedAtY?: number | undefined;
}

/**
 * Returns whether a path matches a pattern, in which `*` stands for any characters. Not a regular expression, because one from a
 * file could take exponential time. A line feed, which no path contains, anchors the first part to the start and the last part to
 * the end.
 */
const isPathMatch = (pattern: string, path: string): boolean => {
  const whole = `\n${path}\n`;
  let at = 0;
  return `\n${pattern}\n`.split('*').every((part) => {
    const found = whole.indexOf(part, at);
    at = found + part.length;
    return found >= 0;
  });
};

/**
 * Inserts the placements that have a selector, on the pages that they apply to, once there is a banner to show. It is a separate
 * chunk that loads only with `selectors()`. The list is part of the user's record, and is deleted with it.
 */
export const create = (options: SessionPartOptions): SessionPart => {
  const { settings, hooks = {}, cache, placements, slotSizes, lifecycle, inBackground } = options;
  const { after, now } = settings.platform;
  let list: readonly SelectorPlacement[] = [];
  /** State by serialized placement, so that a changed placement counts as a new one. */
  const insertions = new Map<string, Insertion>();
  const warned = new Set<string>();
  let path: string | undefined;
  let cancelRefresh: (() => void) | undefined;
  let cancelMissing: (() => void) | undefined;

  /** Reports the reason that a placement is not inserted, once per page. */
  const warn = ({ placement_id, selector }: SelectorPlacement, what: string): void => {
    const message = `Placement "${placement_id}" at "${selector}" of ${path}: ${what}`;
    if (!warned.has(message)) options.fail('config', message);
    warned.add(message);
  };

  const change = (parent: Element | null, work: () => void, undo: () => void): boolean => {
    if (parent?.isConnected && lifecycle.isVisible()) return changeUnseen(parent, work, undo);
    work();
    return true;
  };

  /** Removes the banner at once, and its container if that causes no layout shift. */
  const remove = (insertion: Insertion): void => {
    const { container, unmount } = insertion;
    insertion.unmount = undefined;
    unmount?.();
    if (!container) return;
    const { parentElement, nextSibling } = container;
    const undo = () => void parentElement!.insertBefore(container, nextSibling);
    if (change(parentElement, () => container.remove(), undo)) insertion.container = undefined;
  };

  /** Updates one placement. Returns the reason that it is not inserted; `undefined` if none. */
  const updatePlacement = (placement: SelectorPlacement, insertion: Insertion): string | undefined => {
    const { placement_id: placementId, insert, template } = placement;
    if (!placement.paths.some((each) => isPathMatch(each, path!))) {
      remove(insertion);
      return undefined;
    }
    options.requestPlacement(placementId);
    const banner = cache.current(placementId);
    if (insertion.container?.isConnected && insertion.unmount) {
      if (!banner || banner.isControl === insertion.isControl) return undefined;
      // A control banner has no container. The next banner gets a new one.
      remove(insertion);
    }
    const { 0: anchor, length } = document.querySelectorAll(placement.selector);
    // The anchor may be temporarily detached.
    if (!anchor) return insertion.isFound ? undefined : NO_MATCH;
    insertion.isFound = true;
    if (length > 1) warn(placement, `${length} matches, the first is used`);
    if (!banner) return undefined;
    const hook = Object.hasOwn(hooks, template) && hooks[template];
    if (!hook) return `selectors() has no "${template}"`;
    const isReturn = insertion.anchor === anchor && insertion.container?.isConnected === false;
    if (isReturn && insertion.returns === MAX_RETURNS) return 'the page keeps removing it';
    const { y } = anchor.getBoundingClientRect();
    if (y === insertion.blockedAtY && lifecycle.isVisible()) return undefined;
    const container = insertion.container ?? document.createElement('div');
    const slot = renderContainer(container, placement, banner.isControl);
    const parent = insert.endsWith('pend') ? anchor : anchor.parentElement;
    const put = () => void anchor.insertAdjacentElement(POSITIONS[insert], container);
    if (!change(parent, put, () => container.remove())) {
      insertion.blockedAtY = y;
      return 'waiting until its position is out of view or has room';
    }
    Object.assign(insertion, { container, anchor, isControl: banner.isControl, blockedAtY: undefined });
    if (isReturn) insertion.returns += 1;
    // The container has its declared height, regardless of the height on the last visit at a similar width.
    slotSizes.heights()[slotSizes.key(placementId, slot)] = 0;
    insertion.unmount ??= placements.mount(placementId, slot, hook);
    placements.updateAll();
    return undefined;
  };

  /** Returns the placements whose selector matches nothing. */
  const updatePlacements = (): SelectorPlacement[] =>
    list.filter((placement) => {
      const name = JSON.stringify(placement);
      const insertion = insertions.get(name) ?? { returns: 0 };
      insertions.set(name, insertion);
      let problem: string | undefined;
      try {
        problem = updatePlacement(placement, insertion);
      } catch (cause) {
        // For example, the selector is invalid.
        problem = String(cause);
      }
      if (problem && problem !== NO_MATCH) warn(placement, problem);
      return problem === NO_MATCH;
    });

  /** Records the missing placements. The next request for the list reports them to the service. */
  const recordMissing = (): void => {
    const missing = updatePlacements();
    for (const placement of missing) warn(placement, NO_MATCH);
    const ids = missing.map(({ placement_id }) => placement_id);
    const note = cache.change(({ inserted }) => {
      if (inserted) inserted.missing = ids;
    });
    inBackground(note);
  };

  const refresh = (): void => {
    cancelRefresh?.();
    cancelRefresh = undefined;
    if (path !== location.pathname) {
      path = location.pathname;
      warned.clear();
      for (const insertion of insertions.values()) {
        insertion.returns = 0;
        insertion.isFound = insertion.container?.isConnected === true;
      }
      cancelMissing?.();
      cancelMissing = after(MISSING_MS, recordMissing);
    }
    list = cache.record().inserted?.placements ?? list;
    const names = list.map((placement) => JSON.stringify(placement));
    for (const [name, insertion] of insertions) if (!names.includes(name)) remove(insertion);
    updatePlacements();
    // Discards the mutations of this function.
    observer.takeRecords();
  };
  /** Schedules one check for many mutations. */
  const scheduleRefresh = (): void => {
    if (!options.permission.isStopped()) cancelRefresh ??= after(REFRESH_MS, refresh);
  };

  const updateList = async (): Promise<void> => {
    const { fetchedAtMs = 0, missing = [] } = cache.record().inserted ?? {};
    if (Math.abs(now() - fetchedAtMs) < FRESH_MS) return;
    try {
      const { status, body } = await options.post(PATH, { missing });
      if (options.permission.isStopped()) return;
      const found: unknown = status === 200 && Object(body).placements;
      if (!Array.isArray(found)) throw new Error(`HTTP ${status}`);
      await cache.change((record) => {
        record.inserted = { fetchedAtMs: now(), placements: found, missing: [] };
      });
    } catch (cause) {
      options.fail('sync', `Placements by selector failed to load: ${cause}`, cause);
    }
  };

  const observer = new MutationObserver(scheduleRefresh);
  observer.observe(document, { childList: true, subtree: true });
  // Without the Navigation API, a router's `pushState` is noticed by the mutations that follow.
  const leave = new AbortController();
  const listen = { signal: leave.signal, passive: true, capture: true };
  const { navigation }: { navigation?: EventTarget } = globalThis;
  navigation?.addEventListener('currententrychange', scheduleRefresh, listen);
  for (const event of ['popstate', 'scroll']) addEventListener(event, scheduleRefresh, listen);
  const stops = [
    options.subscribe(({ type }) => void (type === 'changed' && scheduleRefresh())),
    lifecycle.on('hidden', refresh),
  ];

  return {
    /** Called when a session begins, because the list may be outdated or belong to another user. */
    async start(): Promise<void> {
      refresh();
      await updateList();
      scheduleRefresh();
    },
    stop(): void {
      observer.disconnect();
      leave.abort();
      cancelRefresh?.();
      cancelMissing?.();
      for (const stop of stops) stop();
      for (const insertion of insertions.values()) remove(insertion);
    },
  };
};
