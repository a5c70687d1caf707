import type { Slot } from '../client/index.ts';

/** A constructed sheet belongs to one document, so an iframe needs its own. */
const sheets = new WeakMap<Document, Map<string, CSSStyleSheet>>();

/** Constructed sheets need no `style-src`: no `<style>`, no style attribute. */
const sheetFor = (document: Document, css: string): CSSStyleSheet => {
  const known = sheets.get(document) ?? new Map<string, CSSStyleSheet>();
  sheets.set(document, known);
  const existing = known.get(css);
  if (existing) return existing;
  const view = document.defaultView as (Window & typeof globalThis) | null;
  const sheet = new (view ?? globalThis).CSSStyleSheet();
  sheet.replaceSync(css);
  known.set(css, sheet);
  return sheet;
};

/**
 * A shadow root of our own inside the slot: page styles stop at it, ours do not leave it, custom properties get through.
 * Not on the slot's element itself, because a shadow root cannot be taken off again.
 */
export const openFrame = (slot: Slot, css: string[]): { root: ShadowRoot; remove: () => void } => {
  const document = slot.element.ownerDocument;
  const host = document.createElement('placard-frame');
  const root = host.attachShadow({ mode: 'open' });
  root.adoptedStyleSheets = css.map((text) => sheetFor(document, text));
  // Without a doctype, 100 % of a height that no box has given would be that of the window.
  if (document.compatMode === 'BackCompat') host.style.blockSize = 'auto';
  slot.element.append(host);
  return { root, remove: () => host.remove() };
};
