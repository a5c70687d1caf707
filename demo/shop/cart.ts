import { DELIVERY_PRICE, FREE_DELIVERY_FROM, findProduct, type Product } from './catalogue.ts';

interface CartLine {
  product: Product;
  quantity: number;
}

const STORED_AS = 'fern-and-kiln:cart';
const MOST = 9;

type Quantities = [id: string, quantity: number][];

/** Storage of the cart across pages. */
interface CartStorage {
  read(): Quantities;
  write(quantities: Quantities): void;
}

/** Cart in `sessionStorage`. */
export const tabStorage: CartStorage = {
  read() {
    try {
      const stored: unknown = JSON.parse(sessionStorage.getItem(STORED_AS) ?? '[]');
      const entries = Array.isArray(stored) ? stored : [];
      return entries.filter(([id, count]) => findProduct(id) && Number.isInteger(count) && count > 0);
    } catch {
      // If storage is blocked or invalid, starts with an empty cart.
      return [];
    }
  },
  write(quantities) {
    try {
      sessionStorage.setItem(STORED_AS, JSON.stringify(quantities));
    } catch {
      // If storage is blocked, the cart lasts until page exit, as in a private window.
    }
  },
};

export const createCart = (storage: CartStorage) => {
  const quantities = new Map(storage.read());
  const listeners = new Set<() => void>();
  const changed = () => {
    storage.write([...quantities]);
    for (const listener of listeners) listener();
  };
  const lines = (): CartLine[] =>
    [...quantities].flatMap(([id, quantity]) => {
      const product = findProduct(id);
      return product ? [{ product, quantity }] : [];
    });
  const goods = () => lines().reduce((sum, { product, quantity }) => sum + product.price * quantity, 0);
  const delivery = () => (goods() === 0 || goods() >= FREE_DELIVERY_FROM ? 0 : DELIVERY_PRICE);

  return {
    lines,
    goods,
    delivery,
    count: () => lines().reduce((sum, { quantity }) => sum + quantity, 0),
    set(id: string, quantity: number) {
      if (quantity <= 0) quantities.delete(id);
      else quantities.set(id, Math.min(quantity, MOST));
      changed();
    },
    add(id: string) {
      this.set(id, (quantities.get(id) ?? 0) + 1);
    },
    empty() {
      quantities.clear();
      changed();
    },
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
};
export type Cart = ReturnType<typeof createCart>;
