/**
 * A URL of which the driver takes `sslmode` as `psql` does: left to itself it means `verify-full` by every mode. `mode` is
 * for a URL that names none.
 */
export const asLibpq = (url: string, mode: string | undefined): string => {
  const named = /[?&]sslmode=([\w-]+)/.exec(url)?.[1];
  const given = named ?? mode;
  if (given !== 'require' && given !== 'verify-ca') return url;
  const parameters = named ? 'uselibpqcompat=true' : `sslmode=${given}&uselibpqcompat=true`;
  return `${url}${url.includes('?') ? '&' : '?'}${parameters}`;
};
