import type { SelectorPlacement } from '../../protocol/index.ts';

/**
 * Draws a box with a slot of the declared height, and returns the slot: what is shown in it moves nothing. Both are contained, so that they
 * change nothing around them, in a row of a flex or grid container either. The height follows the width of the box. A style of an element
 * has no queries, so it is a sum, whose last term is there below 48rem alone; engines without `cqi` (Chrome before 105, Firefox before 110) take the narrow height.
 */
export const drawBox = (
  box: HTMLElement,
  { placement_id, height_px, wide_height_px = height_px }: SelectorPlacement,
  isControl: boolean,
): HTMLElement => {
  box.dataset['placardPlacement'] = placement_id;
  box.style.cssText = 'display:block;width:100%;contain:layout;container-type:inline-size';
  const slot = box.querySelector('div') ?? box.appendChild(document.createElement('div'));
  const [narrow, wide] = isControl ? [0, 0] : [height_px, wide_height_px];
  slot.style.cssText = `display:block;contain:size layout;height:${narrow}px`;
  if (narrow !== wide)
    slot.style.height = `calc(${wide}px + ${narrow - wide}*clamp(0px,(48rem - 100cqi)*9999,1px))`;
  return slot;
};

interface Place {
  node: Node;
  rect: DOMRect;
}

/** Where a node is. Unlike `getBoundingClientRect` of an element a range has it for text as well. */
const rectOf = (node: Node): DOMRect => {
  const range = document.createRange();
  range.selectNode(node);
  return range.getBoundingClientRect();
};

/** The contents of an element and of all around it. */
const placesAround = (parent: Element): Place[] => {
  const found: Place[] = [];
  for (let around: Element | null = parent; around; around = around.parentElement)
    for (const node of around.childNodes) found.push({ node, rect: rectOf(node) });
  return found;
};

const isInView = ({ height, top, bottom, left, right }: DOMRect): boolean =>
  height > 0 && bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;

/** Ends that grow move nothing; what comes after them is looked at itself. A pixel's fraction is none that anybody sees. */
const SIDES = ['left', 'top', 'width'] as const;

/**
 * Makes a change in `parent`, and takes it back where it moves what is in view: within one task, so that nobody sees it. Returns whether
 * the change stayed.
 */
export const changeUnseen = (parent: Element, change: () => void, undo: () => void): boolean => {
  const places = placesAround(parent);
  change();
  const moves = places.some(({ node, rect }) => {
    // The change itself may take one away.
    if (!node.parentNode) return false;
    const now = rectOf(node);
    // What was above the view may come into it.
    return (isInView(rect) || isInView(now)) && SIDES.some((side) => Math.abs(now[side] - rect[side]) >= 1);
  });
  if (moves) undo();
  return !moves;
};
