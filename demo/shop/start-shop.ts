import { createPlacard, type PlacementHook, selectors } from '../../src/client/index.ts';
import { openDevtools } from '../../src/devtools/index.ts';
import { card, choice, countdown, hero, strip } from '../../src/templates/index.ts';
import { createPanel } from '../panel/panel.ts';
import { node } from '../ui/node.ts';
import { createCart, tabStorage } from './cart.ts';
import { APP_ID, CLIENT_KEY } from './demo-keys.ts';
import { createFaults } from './faults.ts';
import { header } from './header.ts';
import { beginSession, currentSession } from './session.ts';
import { createView, type ShopVerbs, type View } from './views.ts';

type Deed = 'viewed_product' | 'added_to_cart' | 'cart_abandoned' | 'purchased';

/** Sends an action to the shop's backend, which has the server key. Returns `false` on failure. */
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
    // Does not throw, because the shop also works without its backend. The caller reports the failure.
    return false;
  }
};

/** Template of each placement. */
const HOOKS: Readonly<Record<string, PlacementHook>> = {
  home_hero: hero,
  sidebar_promo: card,
  checkout_strip: strip,
  product_countdown: countdown,
  thanks_choice: choice,
};

/** Mounts a placement in an element. Returns a function that unmounts it. */
type ShowPlacement = (placementId: string, element: HTMLElement) => () => void;

/** Renders the screen of the URL hash and mounts its placements until the screen changes. */
const createScreens = (main: HTMLElement, verbs: ShopVerbs, show: ShowPlacement) => {
  let view: View | undefined;
  let unmounts: (() => void)[] = [];

  const draw = () => {
    for (const unmount of unmounts) unmount();
    view?.leave?.();
    view = createView(location.hash, verbs);
    main.replaceChildren(view.screen);
    unmounts = view.slots.map(({ placementId, element }) => show(placementId, element));
    document.title = view.title;
  };
  addEventListener('hashchange', () => {
    draw();
    // Scrolls up, as on a page load.
    scrollTo({ top: 0 });
    main.focus({ preventScroll: true });
  });
  return { draw };
};

/** Starts the shop: the SDK, the screens and the devtools. */
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
    // Allows more refreshes, because demo visitors refresh more often than customers.
    banners: { refreshCapacity: 100, refreshIntervalMs: 5_000 },
    delivery: { maxDelayMs: 2_000 },
    // The workspace file inserts a strip by selector, because no screen has a slot for it.
    use: [selectors({ strip })],
    platform: { fetch: faults.fetch },
  });

  const report = async (deed: Deed, items: { id: string; quantity: number }[]) => {
    if (session.userId === null) return;
    const isSent = await sendToBackend({ userId: session.userId, deed, items });
    // The action may have changed the eligible banners.
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
  openDevtools(placard, { container: devtools });
  const main = node('main', { tabindex: -1, id: 'main' });
  /** Hides the slots while signed out, because no banners arrive. */
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
