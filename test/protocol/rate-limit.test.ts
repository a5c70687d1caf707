import { describe, expect, it } from 'vitest';
import { type RateHeaderFormat, rateLimitHeaders, readRateLimit } from '../../src/protocol/index.ts';
import fc from '../helpers/property.ts';

const NOW = Date.UTC(2026, 2, 1, 12);
const HOUR = 3_600_000;
const read = (headers: Record<string, string>, kind: 'delta-seconds' | 'epoch' = 'epoch') =>
  readRateLimit(new Headers(headers), kind, NOW);
const inSeconds = (seconds: number) => String(NOW / 1000 + seconds);

describe('parsing of rate-limit headers', () => {
  it('contract 1.5: parses the reset of users/track as seconds left', () => {
    const headers = { 'X-RateLimit-Limit': '3000', 'X-RateLimit-Remaining': '12', 'X-RateLimit-Reset': '3' };
    expect(read(headers, 'delta-seconds')).toEqual({
      limit: 3000,
      remaining: 12,
      resetAtMs: NOW + 3_000,
      retryAfterMs: 3_000,
    });
  });

  it('contract 1.5: parses other resets as an epoch, in seconds or, from 1e12 on, in milliseconds', () => {
    expect(read({ 'x-ratelimit-reset': inSeconds(60) })).toEqual({
      resetAtMs: NOW + 60_000,
      retryAfterMs: 60_000,
    });
    expect(read({ 'x-ratelimit-reset': String(NOW + 60_000) })).toEqual({
      resetAtMs: NOW + 60_000,
      retryAfterMs: 60_000,
    });
  });

  it('decides by endpoint, not by magnitude, so that a long window stays in seconds left', () => {
    expect(read({ 'x-ratelimit-reset': '3599' }, 'delta-seconds').resetAtMs).toBe(NOW + 3_599_000);
    expect(read({ 'x-ratelimit-reset': '3599' }, 'epoch').resetAtMs).toBe(3_599_000);
  });

  it.each([['X-Ratelimit-Retry-After', 'X-RateLimit-Retry-After', 'x-ratelimit-retry-after']])(
    'finds the retry header in any spelling',
    (...names) => {
      for (const name of names) expect(read({ [name]: '7' }).retryAfterMs).toBe(7_000);
    },
  );

  it('prefers the retry header, then the Retry-After of a proxy, then the reset', () => {
    const all = { 'x-ratelimit-retry-after': '1', 'retry-after': '2', 'x-ratelimit-reset': inSeconds(3) };
    expect(read(all).retryAfterMs).toBe(1_000);
    expect(read({ ...all, 'x-ratelimit-retry-after': 'soon' }).retryAfterMs).toBe(2_000);
    expect(read({ 'x-ratelimit-reset': all['x-ratelimit-reset'] }).retryAfterMs).toBe(3_000);
  });

  it('parses Retry-After as seconds and as an HTTP date', () => {
    expect(read({ 'retry-after': '120' }).retryAfterMs).toBe(120_000);
    expect(read({ 'retry-after': new Date(NOW + 90_000).toUTCString() }).retryAfterMs).toBe(90_000);
  });

  it('never returns a wait in the past or longer than an hour', () => {
    expect(read({ 'retry-after': new Date(NOW - 90_000).toUTCString() }).retryAfterMs).toBe(0);
    expect(read({ 'x-ratelimit-reset': inSeconds(-5) }).retryAfterMs).toBe(0);
    expect(read({ 'retry-after': '86400' }).retryAfterMs).toBe(HOUR);
    expect(read({ 'x-ratelimit-retry-after': '99999999999999999999' }).retryAfterMs).toBe(HOUR);
  });

  it.each(['', ' ', '-1', '1.5', '1e3', 'NaN', '0x10', 'soon'])(
    'ignores %j, which is not an integer',
    (text) => {
      const names = ['limit', 'remaining', 'reset', 'retry-after'];
      expect(read(Object.fromEntries(names.map((name) => [`x-ratelimit-${name}`, text])))).toEqual({});
    },
  );

  it('returns no wait without a header, so that the caller uses its own backoff', () => {
    expect(read({})).toEqual({});
  });

  it('returns a wait between zero and one hour for any headers', () => {
    const value = fc.oneof(
      fc.nat().map(String),
      fc.integer().map(String),
      fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
    );
    fc.assert(
      fc.property(
        value,
        value,
        value,
        fc.constantFrom('delta-seconds', 'epoch'),
        (retry, proxy, reset, kind) => {
          const { retryAfterMs } = read(
            { 'x-ratelimit-retry-after': retry, 'retry-after': proxy, 'x-ratelimit-reset': reset },
            kind as 'epoch',
          );
          if (retryAfterMs !== undefined) {
            expect(retryAfterMs).toBeGreaterThanOrEqual(0);
            expect(retryAfterMs).toBeLessThanOrEqual(HOUR);
          }
        },
      ),
    );
  });
});

describe('formatting of rate-limit headers', () => {
  const window = { limit: 300, remaining: 41, resetAtMs: NOW + 12_300 };

  it('contract 1.5: users/track returns the three headers on every response, with the seconds left', () => {
    expect(rateLimitHeaders('users-track', window, NOW, false)).toEqual({
      'X-RateLimit-Limit': '300',
      'X-RateLimit-Remaining': '41',
      'X-RateLimit-Reset': '13',
    });
  });

  it('contract 1.5: users/track returns only its own retry header on a 429', () => {
    expect(rateLimitHeaders('users-track', window, NOW, true)).toEqual({ 'X-Ratelimit-Retry-After': '13' });
  });

  it.each(['banners', 'general'] as const)(
    'contract 1.5: %s return the reset as epoch seconds',
    (dialect) => {
      const headers = rateLimitHeaders(dialect, window, NOW, false);
      expect(headers['X-RateLimit-Reset']).toBe(inSeconds(13));
      expect(headers).not.toHaveProperty('X-RateLimit-Retry-After');
    },
  );

  it('contract 1.5: banners return all four headers on a 429', () => {
    expect(rateLimitHeaders('banners', { ...window, remaining: -1 }, NOW, true)).toEqual({
      'X-RateLimit-Limit': '300',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': inSeconds(13),
      'X-RateLimit-Retry-After': '13',
    });
  });

  it('never requests a retry at once or before the window ends', () => {
    const kinds = { 'users-track': 'delta-seconds', banners: 'epoch', general: 'epoch' } as const;
    fc.assert(
      fc.property(
        fc.constantFrom<RateHeaderFormat>('users-track', 'banners', 'general'),
        fc.integer({ min: -10, max: 3_000_000 }),
        (dialect, leftMs) => {
          const headers = rateLimitHeaders(
            dialect,
            { limit: 1, remaining: 0, resetAtMs: NOW + leftMs },
            NOW,
            true,
          );
          const { retryAfterMs = -1 } = readRateLimit(new Headers(headers), kinds[dialect], NOW);
          expect(retryAfterMs).toBeGreaterThanOrEqual(Math.max(1_000, leftMs));
          expect(retryAfterMs).toBeLessThan(Math.max(1_000, leftMs) + 1_000);
        },
      ),
    );
  });
});
