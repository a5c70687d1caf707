import type { SelectorPlacement } from '../../protocol/index.ts';
import type { LateContext } from '../late-context.ts';
import type { PlacementHook } from '../placement-hook.ts';
import { changeUnseen, drawBox } from './inserted-box.ts';

/** A list that is younger is not requested again, in milliseconds: a new placement reaches every browser within that. */
const FRESH_MS = 5 * 60_000;
/** Between two looks at the page, in milliseconds. */
const LOOK_MS = 200;
/** A page that renders late has so long to bring what a selector is for, in milliseconds. */
const MISSING_MS = 5_000;
/** How often the page may take a box away before it is left out. */
const MAX_RETURNS = 3;

const POSITIONS = {
  before: 'beforebegin',
  after: 'afterend',
  prepend: 'afterbegin',
  append: 'beforeend',
} as const;

const NOTHING = 'its selector finds nothing';

/** One placement in this page. */
interface Spot {
  /** Ours, with the slot in it. */
  box?: HTMLElement | undefined;
  unmount?: (() => void) | undefined;
  /** Beside or in which the box was put. */
  anchor?: Element;
  isControl?: boolean;
  /** Its selector has found something since the path changed last. */
  isFound?: boolean;
  /** How often the page has removed the box and left its anchor. */
  returns: number;
  /** Where the anchor was when the box would have moved the page: until it is elsewhere there is no second try. */
  refusedAtY?: number | undefined;
}

/**
 * Whether a path is of a pattern, in which `*` stands for any characters. No regular expression: one of a file could take for ever. A line's
 * end, which no path has, holds the first part to the beginning and the last one to the end.
 */
const isPathOf = (pattern: string, path: string): boolean => {
  const whole = `\n${path}\n`;
  let at = 0;
  return `\n${pattern}\n`.split('*').every((part) => {
    const found = whole.indexOf(part, at);
    at = found + part.length;
    return found >= 0;
  });
};

/** The path of the service is given: a module that two late chunks share breaks on pages that extend `Object.prototype`. */
interface InsertOptions extends LateContext {
  listPath: string;
  hooks: Readonly<Record<string, PlacementHook>>;
}

/**
 * Inserts the placements that have a selector, in the pages that they are for, once there is a banner to show. A chunk of its own: only a
 * page that uses `selectors()` loads it. The list is kept in the user's record, so it goes where that goes.
 */
export const createInsertPlacements = (options: InsertOptions) => {
  const { settings, hooks, cache, placements, boxes, lifecycle, inBackground } = options;
  const { after, now } = settings.platform;
  let list: readonly SelectorPlacement[] = [];
  /** By the placement as the service wrote it: one that was changed is another one. */
  const spots = new Map<string, Spot>();
  const told = new Set<string>();
  let path: string | undefined;
  let cancelLook: (() => void) | undefined;
  let cancelMissing: (() => void) | undefined;

  /** Says once for each page what keeps a placement away. */
  const tell = ({ placement_id, selector }: SelectorPlacement, what: string): void => {
    const message = `Placement "${placement_id}" at "${selector}" of ${path}: ${what}`;
    if (!told.has(message)) options.fail('config', message);
    told.add(message);
  };

  const change = (parent: Element | null, work: () => void, undo: () => void): boolean => {
    if (parent?.isConnected && lifecycle.isVisible()) return changeUnseen(parent, work, undo);
    work();
    return true;
  };

  /** The banner leaves at once, and its box where that moves nothing. */
  const takeAway = (spot: Spot): void => {
    const { box, unmount } = spot;
    spot.unmount = undefined;
    unmount?.();
    if (!box) return;
    const { parentElement, nextSibling } = box;
    const undo = () => void parentElement!.insertBefore(box, nextSibling);
    if (change(parentElement, () => box.remove(), undo)) spot.box = undefined;
  };

  /** Brings one placement to what it should be; returns what keeps it away. */
  const lookAt = (place: SelectorPlacement, spot: Spot): string | undefined => {
    const { placement_id: placementId, insert, template } = place;
    if (!place.paths.some((each) => isPathOf(each, path!))) {
      takeAway(spot);
      return undefined;
    }
    options.want(placementId);
    const banner = cache.current(placementId);
    if (spot.box?.isConnected && spot.unmount) {
      if (!banner || banner.isControl === spot.isControl) return undefined;
      // A control banner has no room: what follows it is put there anew.
      takeAway(spot);
    }
    const { 0: anchor, length } = document.querySelectorAll(place.selector);
    // What was there may be put aside for a while.
    if (!anchor) return spot.isFound ? undefined : NOTHING;
    spot.isFound = true;
    if (length > 1) tell(place, `it finds ${length} elements, and the first is taken`);
    if (!banner) return undefined;
    const hook = Object.hasOwn(hooks, template) && hooks[template];
    if (!hook) return `selectors() has no "${template}"`;
    const isReturn = spot.anchor === anchor && spot.box?.isConnected === false;
    if (isReturn && spot.returns === MAX_RETURNS) return 'the page removes it again and again';
    const { y } = anchor.getBoundingClientRect();
    if (y === spot.refusedAtY && lifecycle.isVisible()) return undefined;
    const box = spot.box ?? document.createElement('div');
    const slot = drawBox(box, place, banner.isControl);
    const parent = insert.endsWith('pend') ? anchor : anchor.parentElement;
    const put = () => void anchor.insertAdjacentElement(POSITIONS[insert], box);
    if (!change(parent, put, () => box.remove())) {
      spot.refusedAtY = y;
      return 'it waits until its place is out of view or has room for its height';
    }
    Object.assign(spot, { box, anchor, isControl: banner.isControl, refusedAtY: undefined });
    if (isReturn) spot.returns += 1;
    // It has its height, whatever it needed on the last visit in a box that was hardly narrower.
    boxes.heights()[boxes.key(placementId, slot)] = 0;
    spot.unmount ??= placements.mount(placementId, slot, hook);
    placements.considerAll();
    return undefined;
  };

  /** Returns the placements whose selector finds nothing. */
  const lookAtAll = (): SelectorPlacement[] =>
    list.filter((place) => {
      const name = JSON.stringify(place);
      const spot = spots.get(name) ?? { returns: 0 };
      spots.set(name, spot);
      let problem: string | undefined;
      try {
        problem = lookAt(place, spot);
      } catch (cause) {
        // A selector that is none, for example.
        problem = String(cause);
      }
      if (problem && problem !== NOTHING) tell(place, problem);
      return problem === NOTHING;
    });

  /** The service learns it too, with the next request for the list. */
  const noteMissing = (): void => {
    const missing = lookAtAll();
    for (const place of missing) tell(place, NOTHING);
    const ids = missing.map(({ placement_id }) => placement_id);
    const note = cache.change(({ inserted }) => {
      if (inserted) inserted.missing = ids;
    });
    inBackground(note);
  };

  const look = (): void => {
    cancelLook?.();
    cancelLook = undefined;
    if (path !== location.pathname) {
      path = location.pathname;
      told.clear();
      for (const spot of spots.values()) {
        spot.returns = 0;
        spot.isFound = spot.box?.isConnected === true;
      }
      cancelMissing?.();
      cancelMissing = after(MISSING_MS, noteMissing);
    }
    list = cache.record().inserted?.placements ?? list;
    const names = list.map((place) => JSON.stringify(place));
    for (const [name, spot] of spots) if (!names.includes(name)) takeAway(spot);
    lookAtAll();
    // Our own changes cause no further look.
    observer.takeRecords();
  };
  /** A page changes many times at once: one look for all of them. */
  const lookSoon = (): void => {
    if (!options.isStopped()) cancelLook ??= after(LOOK_MS, look);
  };

  const ask = async (): Promise<void> => {
    const { askedAtMs = 0, missing = [] } = cache.record().inserted ?? {};
    if (Math.abs(now() - askedAtMs) < FRESH_MS) return;
    try {
      const { status, body } = await options.post(options.listPath, { missing });
      if (options.isStopped()) return;
      const found: unknown = status === 200 && Object(body).placements;
      if (!Array.isArray(found)) throw new Error(`The service answered ${status}`);
      await cache.change((record) => {
        record.inserted = { askedAtMs: now(), placements: found, missing: [] };
      });
    } catch (cause) {
      options.fail('sync', 'The placements by selector are not known', cause);
    }
  };

  const observer = new MutationObserver(lookSoon);
  observer.observe(document, { childList: true, subtree: true });
  // Where the Navigation API is missing, a router's `pushState` is seen by the page that it draws.
  const leave = new AbortController();
  const listen = { signal: leave.signal, passive: true, capture: true };
  (globalThis as { navigation?: EventTarget }).navigation?.addEventListener(
    'currententrychange',
    lookSoon,
    listen,
  );
  for (const event of ['popstate', 'scroll']) addEventListener(event, lookSoon, listen);
  const stops = [
    options.subscribe(({ type }) => void (type === 'changed' && lookSoon())),
    lifecycle.on('hidden', look),
  ];

  return {
    /** A session begins: the list may be old, or of another user. */
    async start(): Promise<void> {
      look();
      await ask();
      lookSoon();
    },
    stop(): void {
      observer.disconnect();
      leave.abort();
      cancelLook?.();
      cancelMissing?.();
      for (const stop of stops) stop();
      for (const spot of spots.values()) takeAway(spot);
    },
  };
};

export type InsertPlacements = ReturnType<typeof createInsertPlacements>;
