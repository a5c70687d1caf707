import type { IncomingMessage, ServerResponse } from 'node:http';
import { SECURITY_HEADERS } from './security-headers.ts';
import type { createShopActions } from './shop-actions.ts';

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
    // Not JSON: the endpoint's own schema refuses `undefined`.
    return undefined;
  }
};

/** Another site's page must not act here: browsers say where a request comes from, and JSON needs their permission. */
const isOwnPage = (request: IncomingMessage): boolean => {
  const site = request.headers['sec-fetch-site'];
  const json = request.headers['content-type']?.split(';')[0]?.trim() === 'application/json';
  return (site === undefined || site === 'same-origin') && json;
};

/** What the shop's pages ask of their own server. Answers false for every other path. */
export const createDemoEndpoints = (shop: Pick<ReturnType<typeof createShopActions>, 'act'>) => {
  const statusOf = async (request: IncomingMessage, pathname: string): Promise<number> => {
    if (request.method !== 'POST' || pathname !== '/demo/act') return 404;
    return isOwnPage(request) ? shop.act(await readBody(request)) : 403;
  };
  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (!pathname.startsWith('/demo/')) return false;
    const status = await statusOf(request, pathname);
    response.writeHead(status, { ...SECURITY_HEADERS, 'cache-control': 'no-store' });
    response.end();
    return true;
  };
};
