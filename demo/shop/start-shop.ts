import { createPlacard, type PlacementHook } from '../../src/client/index.ts';
import { openDevtools } from '../../src/devtools/index.ts';
import { card, choice, countdown, hero, strip } from '../../src/templates/index.ts';
import { createPanel } from '../panel/panel.ts';
import { node } from '../ui/node.ts';
import { createCart, tabStorage } from './cart.ts';
import { APP_ID, CLIENT_KEY } from './demo-keys.ts';
import { createFaults } from './faults.ts';
import { header } from './header.ts';
import { beginSession, currentSession } from './session.ts';
import { type ShopVerbs, type View, viewOf } from './views.ts';

type Deed = 'viewed_product' | 'added_to_cart' | 'cart_abandoned' | 'purchased';

/** Sends what somebody did to the shop's own back end, which alone holds the server key. False where it could not be sent. */
const sendToBackend = async (act: {
  userId: string;
  deed: Deed;
  items: { id: string; quantity: number }[];
}): Promise<boolean> => {
  try {
    const response = await fetch('/demo/act', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(act),
    });
    return response.ok;
  } catch {
    // The shop goes on selling when its back end is away; the caller decides what to say.
    return false;
  }
};

/** Which template draws which placement. */
const HOOKS: Readonly<Record<string, PlacementHook>> = {
  home_hero: hero,
  sidebar_promo: card,
  checkout_strip: strip,
  product_countdown: countdown,
  thanks_choice: choice,
};

/** Puts a banner into an element; answers how to take it out again. */
type ShowPlacement = (placementId: string, element: HTMLElement) => () => void;

/** Shows the screen of the address and keeps its placements mounted for as long as it is there. */
const createScreens = (main: HTMLElement, verbs: ShopVerbs, show: ShowPlacement) => {
  let view: View | undefined;
  let unmounts: (() => void)[] = [];

  const draw = () => {
    for (const unmount of unmounts) unmount();
    view?.leave?.();
    view = viewOf(location.hash, verbs);
    main.replaceChildren(view.screen);
    unmounts = view.slots.map(({ placementId, element }) => show(placementId, element));
    document.title = view.title;
  };
  addEventListener('hashchange', () => {
    draw();
    // A screen of a single page is a new page to people: it begins at its top.
    scrollTo({ top: 0 });
    main.focus({ preventScroll: true });
  });
  return { draw };
};

/** The whole shop, live: the SDK, the screens, and the devtools, which show what the SDK does. */
export const startShop = (page: HTMLElement): void => {
  let session = currentSession();
  const cart = createCart(tabStorage);
  const faults = createFaults();
  const placard = createPlacard({
    endpoint: location.origin,
    apiKey: CLIENT_KEY,
    appId: APP_ID,
    appVersion: '1.0.0',
    userId: session.userId,
    // A visitor of the demo asks more often than a customer does.
    banners: { refreshCapacity: 100, refreshIntervalMs: 5_000 },
    delivery: { maxWaitMs: 2_000 },
    // The workspace file names the place of a strip that no screen of the shop knows of.
    placementsBySelector: { strip },
    platform: { fetch: faults.fetch },
  });

  const report = async (deed: Deed, items: { id: string; quantity: number }[]) => {
    if (session.userId === null) return;
    const isSent = await sendToBackend({ userId: session.userId, deed, items });
    // What somebody did may have changed which banners they get.
    if (isSent) await placard.refresh();
  };

  const verbs: ShopVerbs = {
    cart,
    add(product) {
      cart.add(product.id);
      void report('added_to_cart', [{ id: product.id, quantity: 1 }]);
    },
    async buy() {
      const items = cart.lines().map(({ product, quantity }) => ({ id: product.id, quantity }));
      await report('purchased', items);
      cart.empty();
      location.hash = '#/thanks';
    },
  };

  const { panel, devtools } = createPanel(faults);
  openDevtools(placard, { into: devtools });
  const main = node('main', { tabindex: -1, id: 'main' });
  /** While nobody is signed in no banner comes: the boxes go as well. */
  const markSignedOut = () => main.classList.toggle('signed-out', session.userId === null);
  const show = (placementId: string, element: HTMLElement) =>
    placard.mount(placementId, element, HOOKS[placementId]!);
  const screens = createScreens(main, verbs, show);
  const top = header({
    cart,
    chosen: session.choice,
    onChoose(choice) {
      session = beginSession(choice);
      markSignedOut();
      void placard.identify(session.userId);
    },
  });
  const foot = node('footer', { class: 'foot' }, [
    node('p', {}, ['Fern & Kiln is a demo of Placard. Pots are drawn, not thrown.']),
  ]);
  page.append(
    node('a', { href: '#main', class: 'skip' }, ['Skip to the pots'], {
      click: (event) => {
        event.preventDefault();
        main.focus();
      },
    }),
    node('div', { class: 'shop' }, [top, main, foot]),
    panel,
  );
  markSignedOut();
  screens.draw();

  let screen = location.hash;
  const moved = () => {
    const [, where, id] = location.hash.split('/');
    if (where === 'product' && id) void report('viewed_product', [{ id, quantity: 1 }]);
    const [first] = cart.lines();
    if (screen === '#/cart' && first) void report('cart_abandoned', [{ id: first.product.id, quantity: 1 }]);
    screen = location.hash;
  };
  addEventListener('hashchange', moved);
  moved();
};
