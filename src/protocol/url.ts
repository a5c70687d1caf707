/** Parses a URL. Returns `undefined` if invalid. `URL.canParse` and `URL.parse` are too recent for the supported browsers. */
export const parseUrl = (text: string, base?: string): URL | undefined => {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
};

/** Purpose of a URL. */
export type UrlUse = 'link' | 'image';

const SCHEMES: Record<UrlUse, RegExp> = {
  link: /^(https?|mailto|tel):$/,
  image: /^https?:$/,
};

/**
 * Returns the URL if it is relative or its scheme is allowed (`https` and `http`; for links also `mailto` and `tel`); `null`
 * otherwise. Uses the browser's parser, which strips tabs and line breaks that bypass a regular expression. A relative URL
 * becomes absolute if the page's `<base>` points to another site.
 */
export const safeUrl = (url: unknown, use: UrlUse): string | null => {
  if (typeof url !== 'string' || !url.trim()) return null;
  const base = globalThis.document?.baseURI ?? 'https://localhost/';
  // In about:blank and srcdoc pages, the base cannot resolve relative links.
  const parsed = parseUrl(url, base);
  if (!parsed || !SCHEMES[use].test(parsed.protocol)) return null;
  // With a `<base>` of another site, paths still belong to the page's own site.
  const isForeign = !base.startsWith(`${globalThis.location?.origin}/`) && !parseUrl(url);
  return (isForeign && parseUrl(url, globalThis.location?.href)?.href) || url;
};
