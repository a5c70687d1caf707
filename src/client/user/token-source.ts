import type { Clock } from '../platform/clock.ts';

/** Returns a token of this user, or a promise of one; `null` if none. */
export type ProvideToken = (userId: string) => string | null | Promise<string | null>;

/** Sends nothing of this user for a while, and reports why. Default duration: 5 minutes. */
export type PauseUser = (userId: string, message: string, cause?: unknown, ms?: number) => void;

const HOST_TIMEOUT_MS = 10_000;
/** Time before expiry at which a token is renewed, because requests take time and clocks differ. */
const RENEWAL_MARGIN_MS = 60_000;
const RETRY_MS = 30_000;

interface CachedToken {
  token: string;
  fetchedAt: number;
  /** Expiry by the device's clock, in Unix milliseconds. An unreadable token is valid until it is rejected. */
  endsAt: number;
}

/**
 * Returns the expiry of a token by the device's clock. If the clock is wrong, the service rejects an expired token with a 401.
 */
const getExpiryMs = (token: string): number => {
  try {
    const claims = atob(token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/'));
    return Number(JSON.parse(claims).exp) * 1_000 || Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
};

interface TokenSourceOptions extends Pick<Clock, 'now' | 'after'> {
  provide: ProvideToken;
  pause: PauseUser;
  withTimeout: <T>(work: T | Promise<T>, after: Clock['after'], ms: number, name: string) => Promise<T>;
}

/**
 * Caches the user tokens of this page. Requests a token from the host when a call needs one, and again before it expires or after
 * the service rejected it. A chunk of its own, which loads only with `userTokens()`.
 */
export const createTokenSource = ({ provide, pause, withTimeout, now, after }: TokenSourceOptions) => {
  const tokens = new Map<string, CachedToken>();
  const requesting = new Map<string, Promise<string | undefined>>();

  const current = (userId: string): string | undefined => {
    const found = tokens.get(userId);
    return found && found.endsAt - RENEWAL_MARGIN_MS > now() ? found.token : undefined;
  };

  const fetchToken = async (userId: string): Promise<string | undefined> => {
    try {
      const token = await withTimeout(provide(userId), after, HOST_TIMEOUT_MS, 'The user token');
      if (typeof token !== 'string' || token === '') {
        pause(userId, 'The host returned no user token');
        return undefined;
      }
      // Valid for at least one minute, because a wrong device clock could make every new token expired.
      const endsAt = Math.max(getExpiryMs(token), now() + 2 * RENEWAL_MARGIN_MS);
      tokens.set(userId, { token, fetchedAt: now(), endsAt });
      return token;
    } catch (cause) {
      pause(userId, 'The user token failed', cause, RETRY_MS);
      return undefined;
    }
  };

  return {
    /** Returns the cached token; `undefined` if none is valid. */
    current,
    /** Returns a valid token. If none is available, starts a pause and returns `undefined`. */
    async get(userId: string): Promise<string | undefined> {
      const known = current(userId);
      if (known !== undefined) return known;
      // Not inside `fetchToken`, which would end before it is registered here if the host throws synchronously.
      if (!requesting.has(userId))
        requesting.set(
          userId,
          fetchToken(userId).finally(() => requesting.delete(userId)),
        );
      return requesting.get(userId);
    },
    /** Drops a rejected token. Returns whether the user must wait, because a new token would be rejected too. */
    reject(userId: string, sent: string | undefined): boolean {
      const found = tokens.get(userId);
      // Another request has already handled this rejection.
      if (found?.token !== sent) return false;
      tokens.delete(userId);
      // A token that was valid for a while is replaced at once.
      return !found || now() - found.fetchedAt <= RENEWAL_MARGIN_MS;
    },
  };
};

export type TokenSource = ReturnType<typeof createTokenSource>;
