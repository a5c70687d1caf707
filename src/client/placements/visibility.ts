/** Minimum opacity of readable content, and of elements that cover others. */
const MIN_OPACITY = 0.1;
/** Minimum width and height of the visible part, in CSS pixels. A slot that shrinks to fit leaves only the two borders. */
const MIN_SIDE = 10;
/** Number of hit-test points per side. */
const PROBES = 5;
/** Tolerance of comparisons, because rectangles may have fractional pixels. */
const TOLERANCE = 0.01;
/** Elements that have pixels of their own. The content of a canvas or an SVG is unknown, and may be transparent over a slot. */
const REPLACED = 'video,iframe,embed,object,input,select,textarea';
const DRAWING = `${REPLACED},canvas,svg`;

type Box = Pick<DOMRectReadOnly, 'left' | 'top' | 'right' | 'bottom'>;

/** `invisible`: no visible content. `covered`: too much of the content lies under another element. */
export type Visibility = 'visible' | 'covered' | 'invisible';

export interface VisibilityOptions {
  slot: HTMLElement;
  entry: IntersectionObserverEntry;
  /** Whether the banner is a control banner, which has no content, so that the slot is measured. */
  isControl: boolean;
  /** Whether the slot has had nodes. A slot that never had nodes may draw by itself, or in a closed shadow root. */
  wasFilled: boolean;
  /** Required share of visible pixels, 0 to 1. */
  requiredShare: number;
  /** Whether the slot was covered at the last check. If so, a diagonal of points is checked first, at a fifth of the cost. */
  wasCovered: boolean;
}

const between = (start: number, end: number, probe: number): number =>
  start + ((end - start) * (probe + 0.5)) / PROBES;

/** Returns the visual viewport (pinch zoom, on-screen keyboard) in the coordinates of `getBoundingClientRect()`. */
const visualBox = ({ ownerDocument }: Element): Box => {
  const { visualViewport } = ownerDocument.defaultView ?? {};
  if (!visualViewport) return { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
  const { offsetLeft: left, offsetTop: top, width, height } = visualViewport;
  return { left, top, right: left + width, bottom: top + height };
};

const getRoot = (element: Element) => element.getRootNode() as Document | ShadowRoot;

/** Returns the host of the shadow root that contains the element. */
const findHost = (element: Element): Element | undefined => {
  const root = getRoot(element);
  return 'host' in root ? root.host : undefined;
};

export const getArea = ({ left, top, right, bottom }: Box): number =>
  Math.max(0, right - left) * Math.max(0, bottom - top);

/** Returns the intersection of the boxes if `near` is `Math.max` and `far` is `Math.min`; their bounding box if swapped. */
const joined = (boxes: Box[], near: typeof Math.max, far: typeof Math.max): Box => ({
  left: near(...boxes.map(({ left }) => left)),
  top: near(...boxes.map(({ top }) => top)),
  right: far(...boxes.map(({ right }) => right)),
  bottom: far(...boxes.map(({ bottom }) => bottom)),
});

/** Returns the parent in the flat tree, across shadow roots and same-origin frames. */
const findParent = (element: Element): Element | null =>
  element.assignedSlot ??
  element.parentElement ??
  findHost(element) ??
  element.ownerDocument.defaultView?.frameElement ??
  null;

/** Returns the alpha of a computed color, in any notation. */
const parseAlpha = (colour: string): number =>
  Number(/(?:^rgba\(.*,|\/)\s*([\d.e-]+)\)$/.exec(colour)?.[1] ?? 1);

/** Returns the effective opacity of an element, including its ancestors. */
const getOpacity = (element: Element): number => {
  let opacity = 1;
  let isOutermost = true;
  for (let each: Element | null = element; each && opacity >= MIN_OPACITY; each = findParent(each)) {
    const { visibility, opacity: own, filter } = getComputedStyle(each);
    // Visibility is inherited, but not into a frame.
    if (isOutermost && /hidden|collapse/.test(visibility)) return 0;
    isOutermost = each.parentElement === null;
    opacity *= Number(own || 1) * Number(/opacity\(([\d.]+)\)/.exec(filter)?.[1] ?? 1);
  }
  return opacity;
};

const fillsItsBox = ({ backgroundColor, backgroundImage }: CSSStyleDeclaration): boolean =>
  parseAlpha(backgroundColor) >= MIN_OPACITY || backgroundImage !== 'none';

/** Returns whether the element itself, without its children, has visible pixels. */
const isDrawn = (element: Element): boolean => {
  // An image that is missing or still loading shows nothing.
  if (element.matches('img')) return Object(element).naturalWidth > 0;
  // The shadow root of a custom element may be closed.
  if (element.matches(DRAWING) || element.localName.includes('-')) return true;
  const style = getComputedStyle(element);
  if (fillsItsBox(style)) return true;
  const { color, webkitTextFillColor = color, fontSize, contentVisibility } = style;
  return (
    contentVisibility !== 'hidden' &&
    Number.parseFloat(fontSize) !== 0 &&
    parseAlpha(webkitTextFillColor || color) >= MIN_OPACITY &&
    [...element.childNodes].some(({ nodeType, nodeValue }) => nodeType === 3 && nodeValue?.trim())
  );
};

const findHits = (root: DocumentOrShadowRoot, x: number, y: number): Element[] =>
  root.elementsFromPoint?.(x, y) ?? [];

/** Input of a hit test at one point of a slot. */
interface Probe {
  slot: Element;
  x: number;
  y: number;
}

/**
 * Returns whether the element hides the content under it. A transparent click catcher, or a link stretched over a card, hides
 * nothing.
 */
const hides = (element: Element, probe: Probe): boolean => {
  if (getOpacity(element) < MIN_OPACITY) return false;
  const fills = ['', '::before', '::after'].some((part) => {
    const style = getComputedStyle(element, part);
    return style.content !== 'none' && (fillsItsBox(style) || /\(/.test(style.backdropFilter ?? ''));
  });
  if (fills || element.matches(`${REPLACED},img`)) return true;
  const { shadowRoot } = element;
  // The content of a closed shadow root is unknown. It may be a consent dialog.
  if (!shadowRoot) return element.localName.includes('-') && !element.contains(probe.slot);
  const inner = findHits(shadowRoot, probe.x, probe.y).filter((hit) => hit.getRootNode() === shadowRoot);
  // An ancestor of the slot is hit above the slot because of the top element in its shadow root. The rest of the shadow root lies
  // below the slot.
  return inner.slice(0, element.contains(probe.slot) ? 1 : inner.length).some((hit) => hides(hit, probe));
};

/**
 * Returns whether the element is on its own layer above the page, such as a bar or a dialog. If hit tests cannot find the slot,
 * only an element of this kind covers it.
 */
const isLayer = (element: Element, slot: Element): boolean => {
  for (let each: Element | null = element; each && !each.contains(slot); each = findParent(each)) {
    if (/fixed|sticky/.test(getComputedStyle(each).position) || each.matches('dialog,[popover]')) return true;
  }
  return false;
};

const isUntouchable = (element: Element): boolean =>
  getComputedStyle(element).pointerEvents === 'none' || element.closest('[inert]') !== null;

/** Returns whether an element of an outer tree, such as another document, covers this point. */
const isCoveredOutside = ({ slot, x, y }: Probe): boolean => {
  const host = findHost(slot);
  const member = host ?? slot.ownerDocument.defaultView?.frameElement;
  if (!member) return false;
  const frame = host ? { left: 0, top: 0 } : member.getBoundingClientRect();
  const outside = host
    ? { slot: member, x, y }
    : { slot: member, x: x + frame.left + member.clientLeft, y: y + frame.top + member.clientTop };
  const hits = findHits(getRoot(member), outside.x, outside.y);
  const found = hits.findIndex((hit) => member.contains(hit));
  return hits.slice(0, Math.max(0, found)).some((hit) => hides(hit, outside)) || isCoveredOutside(outside);
};

/**
 * Measures the visible share of a slot: in view, opaque, unclipped, uncovered. Hit testing cannot see overlays with
 * `pointer-events: none`.
 */
export const measureVisibility = ({
  slot,
  entry,
  isControl,
  wasFilled,
  requiredShare,
  wasCovered,
}: VisibilityOptions): Visibility => {
  const root = getRoot(slot);
  // The entry is from the last threshold crossing. Since then the page may have scrolled a little, and a slot that is fully in
  // view may have grown, because the observer reports only changes of the visible share.
  const { boundingClientRect: then, intersectionRect } = entry;
  const now = slot.getBoundingClientRect();
  const growth = (after: number, before: number) => (after > 0 && before > 0 ? after / before : 1);
  const [wider, higher] = [growth(now.width, then.width), growth(now.height, then.height)];
  const x = (at: number): number => now.left + (at - then.left) * wider;
  const y = (at: number): number => now.top + (at - then.top) * higher;
  const move = ({ left, top, right, bottom }: Box): Box => ({
    left: x(left),
    top: y(top),
    right: x(right),
    bottom: y(bottom),
  });
  const isWhole = isControl || !wasFilled || slot.shadowRoot !== null || isDrawn(slot);
  const drawn = isWhole ? [slot] : [...slot.querySelectorAll('*')].filter(isDrawn);
  const readable = drawn.filter((each) => getOpacity(each) >= MIN_OPACITY);
  if (readable.length === 0) return 'invisible';
  const boxes = readable.map((each) => each.getBoundingClientRect()).filter(getArea);
  if (!isWhole && boxes.length === 0) return 'invisible';
  const whole = isWhole ? move(then) : joined(boxes, Math.min, Math.max);
  const visible = joined([whole, move(intersectionRect), visualBox(slot)], Math.max, Math.min);
  const shortSide = Math.min(visible.right - visible.left, visible.bottom - visible.top);
  // A control slot may have no area. If it has an area, it must be in view.
  if (isControl ? getArea(whole) > 0 && getArea(visible) === 0 : shortSide < MIN_SIDE) return 'invisible';

  let free = 0;
  let covered = 0;
  let isHit = false;
  let layers = 0;
  const probe = (column: number, row: number): void => {
    const point = {
      slot,
      x: between(visible.left, visible.right, column),
      y: between(visible.top, visible.bottom, row),
    };
    const hits = findHits(root, point.x, point.y);
    isHit ||= hits.length > 0;
    const own = hits.findIndex((hit) => slot.contains(hit) && (isWhole || hit !== slot));
    const above = hits.slice(0, own < 0 ? hits.length : own).filter((hit) => !slot.contains(hit));
    if (own < 0) layers += Number(above.some((hit) => isLayer(hit, slot) && hides(hit, point)));
    else if (above.some((hit) => hides(hit, point)) || isCoveredOutside(point)) covered++;
    else free++;
  };
  if (wasCovered) {
    for (let i = 0; i < PROBES; i++) probe(i, i);
    if (covered + layers === PROBES) return 'covered';
    [free, covered, layers] = [0, 0, 0];
  }
  for (let i = 0; i < PROBES * PROBES; i++) probe(i % PROBES, Math.floor(i / PROBES));
  if (free + covered === 0) {
    // Hit tests fail if the content is clipped or has no pixels or pointer events, or if everything except a modal dialog is
    // inert.
    const isBlind = getArea(visible) === 0 || !isHit || layers > 0 || readable.every(isUntouchable);
    if (!isBlind) return 'invisible';
    return layers * 2 > PROBES * PROBES ? 'covered' : 'visible';
  }
  const share = getArea(whole) === 0 ? 1 : getArea(visible) / getArea(whole);
  return (share * free) / (free + covered) >= requiredShare - TOLERANCE ? 'visible' : 'covered';
};
