import { nearest } from '../../nearest.ts';

/** The driver would pass over a mistyped `sslmode`, and connect without encryption. */
const refuseSlips = (url: string): void => {
  for (const name of new URLSearchParams(/\?([^#]*)/.exec(url)?.[1]).keys()) {
    if (name !== 'sslmode' && nearest(name, ['sslmode'])) {
      throw new Error(`the URL has a parameter '${name}': write 'sslmode'`);
    }
  }
};

/**
 * A URL of which the driver takes `sslmode` as `psql` does: left to itself it means `verify-full` by every mode. `mode` is
 * for a URL that names none. Throws where `sslmode` has a slip in it.
 */
export const asLibpq = (url: string, mode: string | undefined): string => {
  refuseSlips(url);
  const named = /[?&]sslmode=([\w-]+)/.exec(url)?.[1];
  const given = named ?? mode;
  if (given !== 'require' && given !== 'verify-ca') return url;
  const parameters = named ? 'uselibpqcompat=true' : `sslmode=${given}&uselibpqcompat=true`;
  return `${url}${url.includes('?') ? '&' : '?'}${parameters}`;
};
