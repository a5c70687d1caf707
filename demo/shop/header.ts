import { node } from '../ui/node.ts';
import type { Cart } from './cart.ts';
import { VISITORS } from './visitors.ts';

/** Selected visitor: ID of a demo user, a new user, or `''` if signed out. */
export type Choice = string | 'new' | '';

interface HeaderOptions {
  cart: Cart;
  chosen: Choice;
  onChoose(choice: Choice): void;
}

const cartLink = (cart: Cart) => {
  const count = node('span', { class: 'count' });
  const link = node('a', { href: '#/cart', class: 'cart-link' }, ['Cart', count]);
  const draw = () => {
    count.textContent = String(cart.count());
    count.hidden = cart.count() === 0;
    link.setAttribute('aria-label', `Cart, ${cart.count()} ${cart.count() === 1 ? 'thing' : 'things'}`);
  };
  cart.subscribe(draw);
  draw();
  return link;
};

/** Creates the header of every screen with name, visitor and cart. */
export const header = ({ cart, chosen, onChoose }: HeaderOptions): HTMLElement => {
  const option = (value: Choice, label: string) =>
    node('option', { value, selected: value === chosen }, [label]);
  const select = node(
    'select',
    { id: 'visitor' },
    [
      ...VISITORS.map(({ id, label }) => option(id, label)),
      option('new', 'New visitor'),
      option('', 'Signed out'),
    ],
    { change: () => onChoose(select.value) },
  );
  return node('header', { class: 'top' }, [
    node('a', { href: '#/', class: 'brand' }, [
      node('span', { class: 'brand-mark', 'aria-hidden': 'true' }),
      'Fern & Kiln',
    ]),
    node('div', { class: 'who' }, [node('label', { for: 'visitor' }, ['View as']), select]),
    cartLink(cart),
  ]);
};
