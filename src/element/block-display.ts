const TAG = 'placard-banner';
const styled = new WeakSet<Document | ShadowRoot>();
const sheets = new WeakMap<Document, CSSStyleSheet>();

/**
 * An unknown element is inline, and an inline element has no box to fill. `:where` keeps the rule weaker than any of the
 * page's own, and a constructed sheet needs no `style-src`.
 */
export const displayAsBlock = (element: HTMLElement): void => {
  const root = element.getRootNode() as Document | ShadowRoot;
  const { ownerDocument: document } = element;
  const view = document.defaultView as (Window & typeof globalThis) | null;
  if (!view || !root.adoptedStyleSheets || styled.has(root)) return;
  const sheet = sheets.get(document) ?? new view.CSSStyleSheet();
  if (!sheets.has(document)) sheet.replaceSync(`:where(${TAG}) { display: block; }`);
  sheets.set(document, sheet);
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  styled.add(root);
};
