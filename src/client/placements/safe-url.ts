import { parseUrl } from '../../protocol/index.ts';

/** What a URL may be used for. */
export type UrlUse = 'link' | 'image';

const SCHEMES: Record<UrlUse, RegExp> = {
  link: /^(https?|mailto|tel):$/,
  image: /^https?:$/,
};

/**
 * The URL if its scheme is allowed, else `null`: `https`, `http` and relative ones, and `mailto` and `tel` for a link.
 * The browser's own parser decides, because it strips the tabs and line breaks that fool a pattern.
 */
export const safeUrl = (url: unknown, use: UrlUse): string | null => {
  if (typeof url !== 'string' || !url.trim()) return null;
  const base = globalThis.document?.baseURI ?? 'https://localhost/';
  // A page without an address of its own (about:blank, srcdoc) has a base that cannot carry a relative link.
  const parsed = parseUrl(url, base);
  return parsed && SCHEMES[use].test(parsed.protocol) ? url : null;
};
