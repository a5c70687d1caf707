import { type Banner, type Slot, safeUrl, type UrlUse } from '../../src/client/index.ts';
import type { DraftProblem } from '../studio/draft-problem.ts';
import { node } from '../ui/node.ts';
import { type CartStorage, createCart } from './cart.ts';
import { header } from './header.ts';
import { HOOKS } from './placements.ts';
import { createScreens } from './screens.ts';

/** What the Studio sends into a frame. */
export interface PreviewMessage {
  type: 'placard:preview';
  /** Address of the screen, such as `#/cart`. */
  screen: string;
  /** The placement to look at. */
  placementId: string;
  scheme: 'light' | 'dark';
  banners: Record<string, Banner | null>;
}

/** What a frame answers: it is ready for a message, or has drawn one. */
export interface PreviewReport {
  type: 'placard:preview-ready' | 'placard:preview-drawn';
  /** By placement: why its banner, or parts of it, are not drawn. */
  problems: Record<string, DraftProblem[]>;
}

const REFUSED: Record<UrlUse, string> = {
  link: 'Refused, and the banner is drawn without it. A link begins with https, http, mailto or tel, or is a path of your site.',
  image:
    'Refused, and the banner is drawn without it. An image begins with https or http, or is a path of your site.',
};

const isPreviewMessage = (data: unknown): data is PreviewMessage =>
  typeof data === 'object' && data !== null && 'type' in data && data.type === 'placard:preview';

/** A checkout with nothing in it would be an odd place to judge a strip. */
const fullCart: CartStorage = {
  read: () => [
    ['teapot', 1],
    ['mug', 2],
  ],
  write: () => undefined,
};

/** Moves this page alone: `scrollIntoView` would move the Studio around it too, away from what is being typed. */
const bringIntoView = (placementId: string): void => {
  const place = document.querySelector(`[data-placement="${CSS.escape(placementId)}"]`);
  // The first screen begins at its top, with the head of the shop, as a visitor meets it.
  if (!place || placementId === 'home_hero') {
    scrollTo({ top: 0 });
    return;
  }
  const { top, height } = place.getBoundingClientRect();
  scrollTo({ top: scrollY + top - (innerHeight - height) / 2 });
};

/**
 * The shop without the SDK: banners come from the Studio that embeds the page, nothing is asked, stored or sent. Links
 * and buttons look alive and do nothing.
 */
export const startPreview = (page: HTMLElement): void => {
  let banners: PreviewMessage['banners'] = {};
  let problems: PreviewReport['problems'] = {};
  /** The placement that was brought into view last. */
  let lookedAt = '';
  const tell = (placementId: string, problem: DraftProblem) => {
    problems[placementId] = [...(problems[placementId] ?? []), problem];
  };
  const report = (type: PreviewReport['type']) =>
    parent.postMessage({ type, problems } satisfies PreviewReport, location.origin);

  const show = (placementId: string, element: HTMLElement) => {
    const banner = banners[placementId];
    element.classList.toggle('slot-empty', !banner);
    if (!banner) return () => element.replaceChildren();
    const leaving = new AbortController();
    const slot: Slot = {
      element,
      placementId,
      signal: leaving.signal,
      click: async () => undefined,
      dismiss: async () => undefined,
      safeUrl: (url, use) => {
        const safe = safeUrl(url, use);
        if (safe === null) tell(placementId, { property: use, words: REFUSED[use] });
        return safe;
      },
      report: () => {
        tell(placementId, {
          property: 'image',
          words: 'It cannot be loaded. The banner is shown without it.',
        });
        report('placard:preview-drawn');
      },
    };
    try {
      HOOKS[placementId]?.(banner, slot);
      element.classList.add('slot-previewed');
    } catch (problem) {
      const message = problem instanceof Error ? problem.message : String(problem);
      tell(placementId, { property: null, words: message.replace(banner.id, 'of this draft') });
    }
    return () => {
      leaving.abort();
      element.replaceChildren();
    };
  };

  const main = node('main', { tabindex: -1 });
  const verbs = { cart: createCart(fullCart), add: () => undefined, buy: async () => undefined };
  const screens = createScreens(main, verbs, show);
  page.append(
    node('div', { class: 'shop' }, [
      header({ cart: verbs.cart, chosen: 'mira', onChoose: () => undefined }),
      main,
    ]),
  );
  // Nothing in a frame leads anywhere: it would leave the preview.
  const hold = (event: Event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  for (const type of ['click', 'auxclick', 'submit']) addEventListener(type, hold, { capture: true });

  addEventListener('message', ({ origin, source, data }) => {
    if (origin !== location.origin || source !== parent || !isPreviewMessage(data)) return;
    banners = data.banners;
    problems = {};
    document.documentElement.dataset['scheme'] = data.scheme;
    if (location.hash !== data.screen) history.replaceState(null, '', data.screen);
    screens.draw();
    if (lookedAt !== data.placementId) bringIntoView(data.placementId);
    lookedAt = data.placementId;
    report('placard:preview-drawn');
  });
  // The Studio's window, or the glass that it shows the page through, became another one.
  addEventListener('resize', () => bringIntoView(lookedAt));
  screens.draw();
  report('placard:preview-ready');
};
