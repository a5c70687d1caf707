import type { Exchange } from '../../service/index.ts';

/** Names under which a browser reaches its own machine, or an address that no name can be made to lead to. */
const UNNAMED = /^(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\])(?::\d+)?$/i;

/**
 * Where the Studio is reached: at its public URL where there is one. Without, a `Host` that is a name is refused: a page
 * could have its own name lead here, and act as if it were of the Studio.
 */
export const ownOrigin = (exchange: Exchange, publicUrl: string | null): string | null => {
  if (publicUrl !== null) return publicUrl;
  const host = exchange.header('host') ?? '';
  return UNNAMED.test(host) ? `http://${host}` : null;
};

/** Whether a request that changes something comes from the Studio's own pages. Browsers say so on every such request. */
export const isFromOwnPage = (exchange: Exchange, origin: string): boolean => {
  const site = exchange.header('sec-fetch-site');
  return exchange.header('origin') === origin && (site === undefined || site === 'same-origin');
};
