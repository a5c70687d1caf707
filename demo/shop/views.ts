import { node } from '../ui/node.ts';
import type { Cart } from './cart.ts';
import { CATALOGUE, FREE_DELIVERY_FROM, findProduct, money, type Product } from './catalogue.ts';

/** Screen with its slots, which are mounted once the screen is in the page. */
export interface View {
  title: string;
  screen: HTMLElement;
  slots: { placementId: string; element: HTMLElement }[];
  /** Called when the screen changes. */
  leave?: () => void;
}

export interface ShopVerbs {
  cart: Cart;
  add(product: Product): void;
  buy(): Promise<void>;
}

/** Creates the element of a placement. Its class reserves space to avoid layout shift. */
const slot = (placementId: string) => ({
  placementId,
  element: node('div', { class: `slot slot-${placementId}`, 'data-placement': placementId }),
});

const tile = (product: Product, { add }: ShopVerbs) =>
  node('li', { class: 'tile' }, [
    node('a', { href: `#/product/${product.id}`, class: 'tile-link' }, [
      node('img', { src: `./images/${product.id}.svg`, alt: '', width: 400, height: 400, loading: 'lazy' }),
      node('span', { class: 'tile-name' }, [product.name]),
    ]),
    node('p', { class: 'tile-line' }, [product.line]),
    node('p', { class: 'tile-price' }, [money(product.price)]),
    node(
      'button',
      { type: 'button', class: 'quiet', 'aria-label': `Add to cart: ${product.name}` },
      ['Add to cart'],
      { click: () => add(product) },
    ),
  ]);

export const home = (verbs: ShopVerbs): View => {
  const hero = slot('home_hero');
  const side = slot('sidebar_promo');
  return {
    title: 'Fern & Kiln',
    slots: [hero, side],
    screen: node('div', { class: 'home' }, [
      node('h1', { class: 'visually-hidden' }, ['Fern & Kiln, pots for plant lovers']),
      hero.element,
      node('div', { class: 'shelf' }, [
        node('section', { 'aria-labelledby': 'shelf-title' }, [
          node('div', { class: 'shelf-head' }, [
            node('h2', { id: 'shelf-title' }, ['From this week’s kiln']),
            node('p', {}, ['Nine things, made on Tuesday, cooled until Friday.']),
          ]),
          node(
            'ul',
            { class: 'tiles' },
            CATALOGUE.map((product) => tile(product, verbs)),
          ),
        ]),
        node('aside', { class: 'side', 'aria-label': 'Notes' }, [
          side.element,
          node('div', { class: 'note' }, [
            node('h2', {}, ['The workshop']),
            node('p', {}, [
              'Two wheels, one kiln and a yard full of ferns. Visit on Saturdays, ten to four.',
            ]),
          ]),
          node('div', { class: 'note' }, [
            node('h2', {}, ['Delivery']),
            node('p', {}, [`Packed in straw. Free from ${money(FREE_DELIVERY_FROM)}.`]),
          ]),
        ]),
      ]),
    ]),
  };
};

const productPage = (verbs: ShopVerbs, product: Product): View => {
  const side = slot('sidebar_promo');
  const clock = slot('product_countdown');
  return {
    title: `${product.name} · Fern & Kiln`,
    slots: [clock, side],
    screen: node('div', { class: 'product' }, [
      node('p', { class: 'crumb' }, [node('a', { href: '#/' }, ['← All pots'])]),
      node('div', { class: 'product-main' }, [
        node('img', { src: `./images/${product.id}.svg`, alt: product.name, width: 600, height: 600 }),
        node('div', { class: 'product-words' }, [
          node('h1', {}, [product.name]),
          node('p', { class: 'product-price' }, [money(product.price)]),
          node('p', { class: 'product-story' }, [product.story]),
          node('button', { type: 'button', class: 'primary' }, ['Add to cart'], {
            click: () => verbs.add(product),
          }),
          node('p', { class: 'small' }, [
            `Ships in nine days. Free delivery from ${money(FREE_DELIVERY_FROM)}.`,
          ]),
          clock.element,
          side.element,
        ]),
      ]),
    ]),
  };
};

const cartLine = (cart: Cart, { product, quantity }: ReturnType<Cart['lines']>[number]) =>
  node('li', { class: 'line' }, [
    node('img', { src: `./images/${product.id}.svg`, alt: '', width: 72, height: 72 }),
    node('div', { class: 'line-name' }, [
      node('a', { href: `#/product/${product.id}` }, [product.name]),
      node('span', { class: 'small' }, [money(product.price)]),
    ]),
    node('div', { class: 'stepper', role: 'group', 'aria-label': `Quantity of ${product.name}` }, [
      node('button', { type: 'button', 'aria-label': 'One less' }, ['−'], {
        click: () => cart.set(product.id, quantity - 1),
      }),
      node('span', { 'aria-live': 'polite' }, [quantity]),
      node('button', { type: 'button', 'aria-label': 'One more' }, ['+'], {
        click: () => cart.set(product.id, quantity + 1),
      }),
    ]),
    node('span', { class: 'line-sum' }, [money(product.price * quantity)]),
  ]);

const emptyCart = () =>
  node('div', { class: 'empty' }, [
    node('h2', {}, ['Nothing in it yet']),
    node('p', {}, ['A cart is a kind of shelf. Put something on it.']),
    node('a', { class: 'primary', href: '#/' }, ['See this week’s kiln']),
  ]);

const totals = (verbs: ShopVerbs) => {
  const { cart } = verbs;
  const row = (name: string, value: string, strong = false) =>
    node('div', { class: strong ? 'total strong' : 'total' }, [
      node('dt', {}, [name]),
      node('dd', {}, [value]),
    ]);
  return node('section', { class: 'checkout', 'aria-label': 'Total' }, [
    node('dl', {}, [
      row('Goods', money(cart.goods())),
      row('Delivery', cart.delivery() === 0 ? 'free' : money(cart.delivery())),
      row('Total', money(cart.goods() + cart.delivery()), true),
    ]),
    node('button', { type: 'button', class: 'primary' }, ['Place the order'], {
      click: () => void verbs.buy(),
    }),
    node('p', { class: 'small' }, ['A demo shop: nothing is charged, and nothing will arrive.']),
  ]);
};

export const checkout = (verbs: ShopVerbs): View => {
  const strip = slot('checkout_strip');
  const goods = node('div', { class: 'cart' });
  const draw = () => {
    const focused = goods.contains(document.activeElement) ? document.activeElement : null;
    const place = [focused?.parentElement, focused].map((each) => each?.getAttribute('aria-label'));
    const lines = verbs.cart.lines();
    // Hides the message about a saved cart while the cart is empty.
    strip.element.hidden = lines.length === 0;
    goods.replaceChildren(
      ...(lines.length === 0
        ? [emptyCart()]
        : [
            node(
              'ul',
              { class: 'lines' },
              lines.map((line) => cartLine(verbs.cart, line)),
            ),
            totals(verbs),
          ]),
    );
    if (!focused) return;
    // Restores the focus after the buttons were re-rendered, so that `+` can be pressed again.
    const [group, button] = place.map((label) => `[aria-label="${label}"]`);
    (goods.querySelector<HTMLElement>(`${group} ${button}`) ?? goods.querySelector('a'))?.focus();
  };
  const leave = verbs.cart.subscribe(draw);
  draw();
  return {
    title: 'Cart · Fern & Kiln',
    slots: [strip],
    leave,
    screen: node('div', { class: 'checkout-page' }, [node('h1', {}, ['Your cart']), strip.element, goods]),
  };
};

export const thanks = (): View => {
  const question = slot('thanks_choice');
  return {
    title: 'Thank you · Fern & Kiln',
    slots: [question],
    screen: node('div', { class: 'empty' }, [
      node('h1', {}, ['Thank you']),
      node('p', {}, [
        'The order went to the service as a purchase. Banners that ask for buyers will find you now.',
      ]),
      node('a', { class: 'primary', href: '#/' }, ['Back to the shop']),
      question.element,
    ]),
  };
};

/** Returns the view of a hash such as `#/product/teapot`. Unknown hashes show the home page. */
export const createView = (hash: string, verbs: ShopVerbs): View => {
  const [, page, id = ''] = hash.replace(/^#/, '').split('/');
  const product = page === 'product' ? findProduct(id) : undefined;
  if (product) return productPage(verbs, product);
  if (page === 'cart') return checkout(verbs);
  return page === 'thanks' ? thanks() : home(verbs);
};
