import type { Slot } from '../client/index.ts';

type View = Window & typeof globalThis;

const TAG = 'placard-frame';
/** Narrower than this, in CSS pixels, a slot has no width of its own: its parent shrinks to fit. */
const NARROW_PX = 16;

/** A constructed sheet belongs to one document, so an iframe needs its own. */
const sheets = new WeakMap<Document, Map<string, CSSStyleSheet>>();

/** Constructed sheets need no `style-src`: no `<style>`, no style attribute. */
const sheetFor = (document: Document, { CSSStyleSheet }: View, css: string): CSSStyleSheet => {
  const known = sheets.get(document) ?? new Map<string, CSSStyleSheet>();
  sheets.set(document, known);
  const existing = known.get(css);
  if (existing) return existing;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  known.set(css, sheet);
  return sheet;
};

/** Defines the element once in each window. A custom element because nothing else is told that it is in another document. */
const defineFrame = (view: View): void => {
  if (view.customElements.get(TAG)) return;
  view.customElements.define(
    TAG,
    class extends view.HTMLElement {
      adoptStyles?: () => void;
      /** The browser calls it. */
      adoptedCallback(): void {
        this.adoptStyles?.();
      }
    },
  );
};

/** The content of a container has no width for its parents: in one that shrinks to fit, the slot collapses to its borders. */
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
  /** Length of CSS that the template has where its slot has no width of its own. */
  width: string;
}

/**
 * A shadow root of our own inside the slot: page styles stop at it, ours do not leave it, custom properties get through.
 * Not on the slot's element itself, because a shadow root cannot be taken off again.
 */
export const openFrame = (slot: Slot, panel: HTMLElement, { css, width }: FrameOptions): (() => void) => {
  const document = slot.element.ownerDocument;
  const view = document.defaultView as View | null;
  if (view) defineFrame(view);
  const host = document.createElement(TAG);
  const root = host.attachShadow({ mode: 'open' });
  // The browser takes the sheets off when the slot moves into another document.
  const adoptStyles = () => {
    const { ownerDocument } = host;
    const view = ownerDocument.defaultView as View | null;
    if (view) root.adoptedStyleSheets = css.map((text) => sheetFor(ownerDocument, view, text));
  };
  adoptStyles();
  Object.assign(host, { adoptStyles });
  // Without a doctype, 100 % of a height that no box has given would be that of the window.
  if (document.compatMode === 'BackCompat') host.style.blockSize = 'auto';
  root.append(panel);
  slot.element.append(host);
  keepWidth(host, slot.element, width);
  return () => host.remove();
};
