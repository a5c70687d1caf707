/** The URL, or `undefined` where the text is none. `URL.canParse` and `URL.parse` are too young for the browsers we run in. */
export const parseUrl = (text: string, base?: string): URL | undefined => {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
};

/** What a URL may be used for. */
export type UrlUse = 'link' | 'image';

const SCHEMES: Record<UrlUse, RegExp> = {
  link: /^(https?|mailto|tel):$/,
  image: /^https?:$/,
};

/**
 * The URL if its scheme is allowed, else `null`: `https`, `http` and relative ones, and `mailto` and `tel` for a link.
 * The browser's own parser decides, because it strips the tabs and line breaks that fool a pattern. A relative one comes
 * back absolute where the page's `<base>` would lead it to another site.
 */
export const safeUrl = (url: unknown, use: UrlUse): string | null => {
  if (typeof url !== 'string' || !url.trim()) return null;
  const base = globalThis.document?.baseURI ?? 'https://localhost/';
  // A page without an address of its own (about:blank, srcdoc) has a base that cannot carry a relative link.
  const parsed = parseUrl(url, base);
  if (!parsed || !SCHEMES[use].test(parsed.protocol)) return null;
  // Under a `<base>` of another site, a path is still one of the page's own site.
  const isForeign = !base.startsWith(`${globalThis.location?.origin}/`) && !parseUrl(url);
  return (isForeign && parseUrl(url, globalThis.location?.href)?.href) || url;
};
