import type { Slot } from '../client/index.ts';

/** Longest a plain click waits for its event to be durable before the page is left. A write takes a few milliseconds. */
const CLICK_CAP_MS = 250;

/** Leaves the page for `url`; a host with a router of its own, or a native shell, passes its way of doing that. */
export type Navigate = (url: string) => void;

const isPlain = (event: MouseEvent): boolean =>
  event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;

/** Only a navigation of this page can outrun the write: mailto, tel and fragments leave the page where it is. */
const leavesPage = (url: URL, here: Location): boolean =>
  /^https?:$/.test(url.protocol) && !(url.hash !== '' && url.href.split('#')[0] === here.href.split('#')[0]);

/** Under `<base target="_top">` a link in a frame leads out of it: only the browser goes there. */
const ELSEWHERE = 'base[target]:not([target=_self])';

/**
 * Logs each click on `anchor`. A plain click waits until the event is stored, never longer than the cap, and then
 * navigates; new-tab clicks and everything else the browser does itself.
 */
export const followLink = (anchor: HTMLAnchorElement, slot: Slot, navigate?: Navigate): void => {
  const { ownerDocument: document } = anchor;
  const view = document.defaultView;
  let leaving = false;
  const go = (url: string) => {
    leaving = false;
    try {
      if (navigate) return navigate(url);
    } catch (cause) {
      // The host's own mistake: the link is followed all the same.
      console.error(cause);
    }
    view?.location.assign(url);
  };

  const onClick = (event: MouseEvent) => {
    if (event.defaultPrevented) return;
    const url = anchor.getAttribute('href') ?? '';
    const stays = view && !leavesPage(new URL(anchor.href, view.location.href), view.location);
    if (!view || !isPlain(event) || (!navigate && (stays || document.querySelector(ELSEWHERE)))) {
      void slot.click();
      return;
    }
    event.preventDefault();
    // A second click while the first is being stored would be the same wish counted twice.
    if (leaving) return;
    leaving = true;
    const timer = view.setTimeout(() => leaving && go(url), CLICK_CAP_MS);
    const stored = () => {
      view.clearTimeout(timer);
      if (leaving) go(url);
    };
    slot.click().then(stored, stored);
  };
  // A middle click opens a tab and is no `click` event; a right click (button 2) opens only a menu.
  const onAuxClick = (event: MouseEvent) => {
    if (event.button === 1 && !event.defaultPrevented) void slot.click();
  };
  anchor.addEventListener('click', onClick, { signal: slot.signal });
  anchor.addEventListener('auxclick', onAuxClick, { signal: slot.signal });
};
