import type { Slot } from '../client/index.ts';

/** Maximum delay of a plain click until its event is durable, in milliseconds. A write takes a few milliseconds. */
const CLICK_CAP_MS = 250;

/** Navigates to `url`. Override it for a client-side router or a native shell. */
export type Navigate = (url: string) => void;

const isPlain = (event: MouseEvent): boolean =>
  event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;

/** Returns whether a navigation may cancel the write. mailto, tel and fragment links keep the page. */
const leavesPage = (url: URL, here: Location): boolean =>
  /^https?:$/.test(url.protocol) && !(url.hash !== '' && url.href.split('#')[0] === here.href.split('#')[0]);

/** Returns the window that a link in `view` navigates. A picture-in-picture window would close instead. */
const findTarget = (view: Window): Window =>
  // Only Chromium has it, so the types of the DOM do not.
  view === Reflect.get(window, 'documentPictureInPicture')?.window ? window : view;

/** Matches `<base target="_top">`, which makes links leave their frame. Only the browser can navigate another frame. */
const BASE_TARGET_SELECTOR = 'base[target]:not([target=_self])';

interface FollowLinkOptions {
  navigate: Navigate | undefined;
  /** Name of the link in results; `undefined` if the banner has only one link. */
  buttonId: string | undefined;
}

/**
 * Logs each click on `anchor`. A plain click navigates after the event is stored, or after `CLICK_CAP_MS`. The browser handles
 * new-tab clicks and everything else.
 */
export const followLink = (
  anchor: HTMLAnchorElement,
  slot: Slot,
  { navigate, buttonId }: FollowLinkOptions,
): void => {
  let isNavigating = false;
  const go = (url: string, view: Window) => {
    isNavigating = false;
    try {
      if (navigate) return navigate(url);
    } catch (cause) {
      // The host's `navigate` threw. The link is followed anyway.
      console.error(cause);
    }
    view.location.assign(url);
  };

  const onClick = (event: MouseEvent) => {
    if (event.defaultPrevented) return;
    const url = anchor.getAttribute('href') ?? '';
    // The slot may have moved into another document.
    const { ownerDocument: document } = anchor;
    const view = document.defaultView && findTarget(document.defaultView);
    const stays = view && !leavesPage(new URL(anchor.href, view.location.href), view.location);
    if (!view || !isPlain(event) || (!navigate && (stays || document.querySelector(BASE_TARGET_SELECTOR)))) {
      void slot.click(buttonId);
      return;
    }
    event.preventDefault();
    // A second click during the write would be counted as another click.
    if (isNavigating) return;
    isNavigating = true;
    const timer = view.setTimeout(() => isNavigating && go(url, view), CLICK_CAP_MS);
    const stored = () => {
      view.clearTimeout(timer);
      if (isNavigating) go(url, view);
    };
    slot.click(buttonId).then(stored, stored);
  };
  // A middle click opens a tab without a `click` event; a right click (button 2) only opens a menu.
  const onAuxClick = (event: MouseEvent) => {
    if (event.button === 1 && !event.defaultPrevented) void slot.click(buttonId);
  };
  anchor.addEventListener('click', onClick, { signal: slot.signal });
  anchor.addEventListener('auxclick', onAuxClick, { signal: slot.signal });
};
