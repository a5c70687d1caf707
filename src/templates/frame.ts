import type { Slot } from '../client/index.ts';

type View = Window & typeof globalThis;

const TAG = 'placard-frame';
/** Width in CSS pixels below which a slot has no width of its own, because its parent shrinks to fit. */
const NARROW_PX = 16;

/** A constructed sheet belongs to one document, so an iframe needs its own. */
const sheets = new WeakMap<Document, Map<string, CSSStyleSheet>>();

/** Returns a constructed sheet, which needs no `style-src` in the CSP. */
const sheetFor = (document: Document, { CSSStyleSheet }: View, css: string): CSSStyleSheet => {
  const adopted = sheets.get(document) ?? new Map<string, CSSStyleSheet>();
  sheets.set(document, adopted);
  const existing = adopted.get(css);
  if (existing) return existing;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  adopted.set(css, sheet);
  return sheet;
};

/** Defines the custom element once per window. Only custom elements are notified when they move to another document. */
const defineFrame = (view: View): void => {
  if (view.customElements.get(TAG)) return;
  view.customElements.define(
    TAG,
    class extends view.HTMLElement {
      adoptStyles?: () => void;
      adoptedCallback(): void {
        this.adoptStyles?.();
      }
    },
  );
};

/**
 * Sets a minimum width. A container's content does not contribute to its parents' width, so in a parent that shrinks to fit, the
 * slot would collapse to its borders.
 */
const keepWidth = (host: HTMLElement, slot: HTMLElement, width: string): void => {
  const isCollapsed = host.offsetHeight > 0 && slot.offsetWidth < NARROW_PX;
  let parent = isCollapsed ? slot.parentElement : null;
  while (parent && parent.clientWidth < NARROW_PX) parent = parent.parentElement;
  if (!parent) return;
  const { paddingInlineStart, paddingInlineEnd } = getComputedStyle(parent);
  host.style.minInlineSize = `min(${width}, calc(${parent.clientWidth}px - ${paddingInlineStart} - ${paddingInlineEnd}))`;
};

interface FrameOptions {
  css: string[];
  /** CSS width of the template if its slot has no width of its own. */
  width: string;
}

/**
 * Renders into a shadow root inside the slot, which isolates styles in both directions; custom properties inherit. The slot's
 * element is not the shadow host, because a shadow root cannot be removed.
 */
export const openFrame = (slot: Slot, panel: HTMLElement, { css, width }: FrameOptions): (() => void) => {
  const document = slot.element.ownerDocument;
  const view = document.defaultView;
  if (view) defineFrame(view);
  const host = document.createElement(TAG);
  const root = host.attachShadow({ mode: 'open' });
  // The browser drops adopted sheets when the slot moves to another document.
  const adoptStyles = () => {
    const { ownerDocument } = host;
    const view = ownerDocument.defaultView;
    if (view) root.adoptedStyleSheets = css.map((text) => sheetFor(ownerDocument, view, text));
  };
  adoptStyles();
  Object.assign(host, { adoptStyles });
  // In quirks mode, a height of 100% without a fixed parent height would be the window's.
  if (document.compatMode === 'BackCompat') host.style.blockSize = 'auto';
  root.append(panel);
  slot.element.append(host);
  keepWidth(host, slot.element, width);
  return () => host.remove();
};
