import type { SelectorPlacement } from '../../protocol/index.ts';

/**
 * Renders a container with a slot of the declared height, and returns the slot. Its content causes no layout shift. Container and
 * slot use containment, so that they do not affect their surroundings, not even in a flex or grid row. The height depends on the
 * width of the container. Inline styles cannot use media queries, so it is a sum whose last term applies only below 48rem. Engines
 * without `cqi` (Chrome before 105, Firefox before 110) use the narrow height.
 */
export const renderContainer = (
  container: HTMLElement,
  { placement_id, height_px, wide_height_px = height_px }: SelectorPlacement,
  isControl: boolean,
): HTMLElement => {
  container.dataset['placardPlacement'] = placement_id;
  container.style.cssText = 'display:block;width:100%;contain:layout;container-type:inline-size';
  const slot = container.querySelector('div') ?? container.appendChild(document.createElement('div'));
  const [narrow, wide] = isControl ? [0, 0] : [height_px, wide_height_px];
  slot.style.cssText = `display:block;contain:size layout;height:${narrow}px`;
  if (narrow !== wide)
    slot.style.height = `calc(${wide}px + ${narrow - wide}*clamp(0px,(48rem - 100cqi)*9999,1px))`;
  return slot;
};

interface NodeRect {
  node: Node;
  rect: DOMRect;
}

/** Returns the position of a node. Unlike `getBoundingClientRect` of an element, a range also works for text. */
const getRect = (node: Node): DOMRect => {
  const range = document.createRange();
  range.selectNode(node);
  return range.getBoundingClientRect();
};

/** Returns the positions of the contents of an element and its ancestors. */
const measureAround = (parent: Element): NodeRect[] => {
  const found: NodeRect[] = [];
  for (let around: Element | null = parent; around; around = around.parentElement)
    for (const node of around.childNodes) found.push({ node, rect: getRect(node) });
  return found;
};

const isInView = ({ height, top, bottom, left, right }: DOMRect): boolean =>
  height > 0 && bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;

/** Only these sides are compared, because a node may grow at its end, and the nodes after it are checked separately. */
const SIDES = ['left', 'top', 'width'] as const;

/**
 * Applies a change in `parent`, and reverts it in the same task if it moves visible content. Returns whether the change was
 * kept.
 */
export const changeUnseen = (parent: Element, change: () => void, undo: () => void): boolean => {
  const rects = measureAround(parent);
  change();
  const moves = rects.some(({ node, rect }) => {
    // The change may remove a node.
    if (!node.parentNode) return false;
    const now = getRect(node);
    // Content above the viewport may move into it.
    return (isInView(rect) || isInView(now)) && SIDES.some((side) => Math.abs(now[side] - rect[side]) >= 1);
  });
  if (moves) undo();
  return !moves;
};
