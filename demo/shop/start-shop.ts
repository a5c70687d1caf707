import { createPlacard } from '../../src/client/index.ts';
import { openDevtools } from '../../src/devtools/index.ts';
import { createPanel } from '../panel/panel.ts';
import { node } from '../ui/node.ts';
import { type Deed, sendToBackend } from './act.ts';
import { createCart, tabStorage } from './cart.ts';
import { APP_ID, CLIENT_KEY } from './demo-keys.ts';
import { createFaults } from './faults.ts';
import { header } from './header.ts';
import { HOOKS } from './placements.ts';
import { createScreens } from './screens.ts';
import { beginSession, currentSession } from './session.ts';
import type { ShopVerbs } from './views.ts';

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
