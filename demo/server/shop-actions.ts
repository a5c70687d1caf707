import * as z from 'zod';
import type { Service } from '../../src/service/index.ts';
import { CURRENCY, productOf } from '../shop/catalogue.ts';
import { VISITORS } from '../shop/visitors.ts';
import { APP_ID, SERVER_KEY } from './keys.ts';

const MAX_LINES = 20;
const MAX_OF_ONE = 9;

const act = z.strictObject({
  userId: z.string().min(1).max(60),
  deed: z.enum(['viewed_product', 'added_to_cart', 'cart_abandoned', 'purchased']),
  items: z
    .array(z.strictObject({ id: z.string(), quantity: z.int().min(1).max(MAX_OF_ONE) }))
    .min(1)
    .max(MAX_LINES),
});
type Act = z.infer<typeof act>;

/** What the shop's back end knows better than the page: names and prices. */
const trackBody = ({ userId, deed, items }: Act, now: number) => {
  const time = new Date(now).toISOString();
  const lines = items.flatMap(({ id, quantity }) => {
    const product = productOf(id);
    return product ? [{ product, quantity }] : [];
  });
  if (deed === 'purchased') {
    return {
      purchases: lines.map(({ product, quantity }) => ({
        external_id: userId,
        app_id: APP_ID,
        product_id: product.id,
        currency: CURRENCY,
        price: product.price,
        quantity,
        time,
      })),
    };
  }
  return {
    events: lines.map(({ product }) => ({
      external_id: userId,
      app_id: APP_ID,
      name: deed,
      time,
      properties: { product_id: product.id, product_name: product.name, price: product.price },
    })),
  };
};

/** The part of a shop that has a server key: it sends what people did to the service. The page never sees the key. */
export const createShopActions = (service: Pick<Service, 'fetch'>, now: () => number = Date.now) => {
  const usersTrack = (body: unknown) =>
    service.fetch(
      new Request('http://localhost/users/track', {
        method: 'POST',
        headers: { authorization: `Bearer ${SERVER_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    );

  return {
    /** Answers with a status: 204 where the service took it, 400 where the act makes no sense. */
    async act(input: unknown): Promise<number> {
      const parsed = act.safeParse(input);
      if (!parsed.success) return 400;
      return (await usersTrack(trackBody(parsed.data, now()))).ok ? 204 : 502;
    },
    /** Gives the people of the demo their attributes. The same each time, so it may run at each start. */
    async seed(): Promise<void> {
      const response = await usersTrack({
        attributes: VISITORS.map(({ id, attributes }) => ({ external_id: id, ...attributes })),
      });
      if (!response.ok) throw new Error(`The demo's visitors were not stored: ${await response.text()}`);
    },
  };
};
