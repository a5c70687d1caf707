/** What may uncover a slot: capture, as neither `scroll` nor `close` bubbles. */
const EVENTS = ['scroll', 'resize', 'pointerup', 'keyup', 'close', 'toggle', 'transitionend', 'animationend'];
const ATTRIBUTES = ['class', 'style', 'hidden', 'open', 'inert'];

/**
 * Calls `listener` when what lies over the page may have changed: scroll, resize, pointer, keyboard, an ended transition, or a mutation of
 * the top layer and of the children of `body`, where dialogs are. Returns a function that stops it.
 */
export const onCoverChange = (document: Document, listener: () => void): (() => void) => {
  const abort = new AbortController();
  const options = { capture: true, passive: true, signal: abort.signal };
  for (const type of EVENTS) document.defaultView?.addEventListener(type, listener, options);
  const observer = new MutationObserver(() => {
    observeAll();
    listener();
  });
  const observeAll = (): void => {
    observer.observe(document.body, { childList: true, attributeFilter: ATTRIBUTES });
    for (const child of document.body.children)
      observer.observe(child, { childList: true, attributeFilter: ATTRIBUTES });
  };
  observeAll();
  return () => {
    abort.abort();
    observer.disconnect();
  };
};
