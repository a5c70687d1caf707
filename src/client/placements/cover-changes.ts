/** Events that may uncover a slot. Listeners use capture, because neither `scroll` nor `close` bubbles. */
const EVENTS = ['scroll', 'resize', 'pointerup', 'keyup', 'close', 'toggle', 'transitionend', 'animationend'];
const ATTRIBUTES = ['class', 'style', 'hidden', 'open', 'inert'];

/**
 * Calls `listener` when elements over the page may have changed: scroll, resize, pointer, keyboard, end of a transition or
 * animation, or a mutation of the top layer or of the children of `body`, which contain dialogs. Returns a function that
 * unsubscribes.
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
