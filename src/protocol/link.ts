import { INTEGRATIONS_PATH } from './integrations.ts';
import { parseUrl } from './parse-url.ts';

/** Relation name to target, for example `{ next: '/cdi/integrations?cursor=…' }`. */
export type Links = Record<string, string>;

/**
 * Reads a `Link` header (RFC 8288): targets in angle brackets, separated by commas with or without a space,
 * several relations in one `rel`, parameters quoted or not. What it cannot read it leaves out.
 */
export const parseLink = (header: string | null | undefined): Links => {
  const links: Links = {};
  for (const [, target = '', parameters = ''] of (header ?? '').matchAll(
    /<([^>]*)>((?:\s*;\s*[\w!#$&+\-.^`|~*]+\s*(?:=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*))?)*)/g,
  )) {
    const relation = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters);
    for (const name of (relation?.[1] ?? relation?.[2] ?? '').toLowerCase().split(/\s+/)) {
      if (name && !Object.hasOwn(links, name)) links[name] = target;
    }
  }
  return links;
};

/** Writes the header as the contract shows it: relative targets, `prev` first, a bare comma between. */
export const formatLink = (
  cursors: { prev?: string | undefined; next?: string | undefined },
  path: string = INTEGRATIONS_PATH,
): string | undefined => {
  const parts = (['prev', 'next'] as const).flatMap((relation) => {
    const cursor = cursors[relation];
    return cursor === undefined ? [] : [`<${path}?cursor=${cursor}>; rel="${relation}"`];
  });
  return parts.length > 0 ? parts.join(',') : undefined;
};

/** The cursor of a link target, or `undefined` where it names another origin than `base` (a key must not leak). */
export const cursorOf = (target: string, base: string): string | undefined => {
  const url = parseUrl(target, base);
  if (!url) return undefined;
  // A `+` in a base64 cursor must stay one: URLSearchParams would read it as a space.
  const query = new URLSearchParams(url.search.replaceAll('+', '%2B'));
  return url.origin === new URL(base).origin ? (query.get('cursor') ?? undefined) : undefined;
};
