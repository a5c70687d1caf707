import { TRACK_PATH } from '../../protocol/index.ts';

/**
 * The `banners/track` call, whoever makes it. A redirect is an error, since it would carry the key to wherever it
 * points.
 */
export const trackRequest = (endpoint: string, key: string, body: string) => ({
  url: endpoint.replace(/\/$/, '') + TRACK_PATH,
  init: {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    redirect: 'error',
  } satisfies RequestInit,
});
