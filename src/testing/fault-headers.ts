import { rateLimitHeaders, USERS_TRACK_PATH } from '../protocol/index.ts';
import type { RateLimitForm } from './fault.ts';

/** What a 429 carries, in each form that servers and proxies use. */
export const refusalHeaders = (
  form: RateLimitForm,
  afterSeconds: number,
  path: string,
  now: number,
): Record<string, string> => {
  const resetAtMs = now + afterSeconds * 1000;
  switch (form) {
    case 'banners':
    case 'users-track':
      return rateLimitHeaders(form, { limit: 100, remaining: 0, resetAtMs }, now, true);
    case 'retry-after':
      return { 'Retry-After': String(afterSeconds) };
    case 'retry-after-date':
      return { 'Retry-After': new Date(resetAtMs).toUTCString() };
    case 'reset':
      return {
        'X-RateLimit-Reset': String(path === USERS_TRACK_PATH ? afterSeconds : Math.ceil(resetAtMs / 1000)),
      };
    case 'hidden':
      return {};
  }
};
