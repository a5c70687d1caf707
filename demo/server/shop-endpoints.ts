import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import type { Service } from '../../src/service/index.ts';
import { CURRENCY, findProduct } from '../shop/catalogue.ts';
import { VISITORS } from '../shop/visitors.ts';
import { APP_ID, SERVER_KEY } from './keys.ts';
import { SECURITY_HEADERS } from './static-files.ts';

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

/** Returns the `/users/track` body with names and prices from the catalogue, not from the page. */
const trackBody = ({ userId, deed, items }: Act, now: number) => {
  const time = new Date(now).toISOString();
  const lines = items.flatMap(({ id, quantity }) => {
    const product = findProduct(id);
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

/** Creates the backend of the shop, which has the server key and sends users' actions to the service. */
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
    /** Sends an action. Returns the status: 204 if the service accepted the action, 400 if it is invalid. */
    async act(input: unknown): Promise<number> {
      const parsed = act.safeParse(input);
      if (!parsed.success) return 400;
      return (await usersTrack(trackBody(parsed.data, now()))).ok ? 204 : 502;
    },
    /** Sets the attributes of the demo users. Idempotent, so that it can run at each start. */
    async seed(): Promise<void> {
      const response = await usersTrack({
        attributes: VISITORS.map(({ id, attributes }) => ({ external_id: id, ...attributes })),
      });
      if (!response.ok) throw new Error(`The demo's visitors were not stored: ${await response.text()}`);
    },
  };
};

const MAX_BODY_BYTES = 64 * 1024;

const readBody = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    // Returns `undefined` for invalid JSON, which the schema rejects.
    return undefined;
  }
};

/** Returns whether the request is safe from CSRF, by its origin and the JSON content type, which requires a CORS preflight. */
const isOwnPage = (request: IncomingMessage): boolean => {
  const site = request.headers['sec-fetch-site'];
  const json = request.headers['content-type']?.split(';')[0]?.trim() === 'application/json';
  return (site === undefined || site === 'same-origin') && json;
};

/** Path of the receiver of the demo's webhook, which accepts every message. */
export const HOOK_PATH = '/demo/hook';

/** Handles the demo's own endpoints. Returns `false` for other paths. */
export const createDemoEndpoints = (shop: Pick<ReturnType<typeof createShopActions>, 'act'>) => {
  const getStatus = async (request: IncomingMessage, pathname: string): Promise<number> => {
    if (request.method === 'POST' && pathname === HOOK_PATH) return 204;
    if (request.method !== 'POST' || pathname !== '/demo/act') return 404;
    return isOwnPage(request) ? shop.act(await readBody(request)) : 403;
  };
  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (!pathname.startsWith('/demo/')) return false;
    const status = await getStatus(request, pathname);
    response.writeHead(status, { ...SECURITY_HEADERS, 'Cache-Control': 'no-store' });
    response.end();
    return true;
  };
};
