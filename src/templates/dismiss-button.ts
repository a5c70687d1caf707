import type { Slot } from '../client/index.ts';
import { buildElement } from './build-element.ts';

const SVG = 'http://www.w3.org/2000/svg';

const cross = (document: Document): SVGElement => {
  const icon = document.createElementNS(SVG, 'svg');
  const path = document.createElementNS(SVG, 'path');
  icon.setAttribute('viewBox', '0 0 16 16');
  icon.setAttribute('aria-hidden', 'true');
  path.setAttribute('d', 'M3.5 3.5l9 9m0-9l-9 9');
  icon.append(path);
  return icon;
};

/**
 * Moves focus to the slot, so that keyboard and screen-reader users do not return to the top of the page. The slot is focusable
 * only for this moment, and ignores a held Enter, which would press the page's next button.
 */
const restFocus = (slot: HTMLElement): void => {
  if (slot.hasAttribute('tabindex')) {
    slot.focus({ preventScroll: true });
    return;
  }
  slot.setAttribute('tabindex', '-1');
  slot.addEventListener('blur', () => slot.removeAttribute('tabindex'), { once: true });
  slot.focus({ preventScroll: true });
};

/** Creates a `<button>` that dismisses the banner. */
export const dismissButton = (slot: Slot, label: string): HTMLButtonElement => {
  const document = slot.element.ownerDocument;
  const attributes = { type: 'button', class: 'dismiss', 'aria-label': label };
  const button = buildElement(document, 'button', attributes, [cross(document)]);
  const onClick = () => {
    const root = button.getRootNode();
    const hadFocus = 'activeElement' in root && root.activeElement !== null;
    void slot.dismiss();
    if (hadFocus) restFocus(slot.element);
  };
  button.addEventListener('click', onClick, { signal: slot.signal });
  return button;
};
