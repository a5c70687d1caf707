const sheets = new WeakMap<Document, CSSStyleSheet>();

/**
 * An unknown element is inline, and an inline element has no box to fill. `:where` keeps the rule weaker than any of the
 * page's own, and a constructed sheet needs no `style-src`.
 */
export const displayAsBlock = (element: HTMLElement): void => {
  const root = element.getRootNode() as Document | ShadowRoot;
  const { ownerDocument: document } = element;
  const view = document.defaultView as (Window & typeof globalThis) | null;
  if (!view || !root.adoptedStyleSheets) return;
  let sheet = sheets.get(document);
  if (!sheet) {
    sheet = new view.CSSStyleSheet();
    sheet.replaceSync(':where(placard-banner) { display: block; }');
    sheets.set(document, sheet);
  }
  // A page may have set its own sheets anew since.
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
};
