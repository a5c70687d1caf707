import { isVisitorId } from '../../protocol/index.ts';
import type { FailureKind } from '../notices.ts';
import type { Clock } from '../platform/clock.ts';
import { withTimeout } from '../platform/waits.ts';

/** How long a function of the host may think. */
const ASK_MS = 10_000;

/** A short print of the key, to know it again without storing it. FNV-1a over the code units. */
export const fingerprint = (key: string): string => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i += 1) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193) >>> 0;
  return `${key.length}-${hash.toString(36)}`;
};

/** The client key, or a function of the host that answers the current one. */
type ProvideKey = string | (() => string | Promise<string>);

/** Asks for the current key; rejects where the host's function fails. */
export const askKey = async (apiKey: ProvideKey, after: Clock['after']): Promise<string> => {
  if (typeof apiKey === 'string') return apiKey;
  const answered = await withTimeout(apiKey(), after, ASK_MS, 'apiKey()');
  if (typeof answered !== 'string' || answered === '') throw new Error('apiKey() answered no key');
  return answered;
};

/** Keeps the client key until the server has refused it. */
export const createKeyring = (apiKey: ProvideKey, after: Clock['after']) => {
  let key = typeof apiKey === 'string' ? apiKey : undefined;
  let asking: Promise<string> | undefined;

  const ask = async (): Promise<string> => {
    try {
      key = await askKey(apiKey, after);
      return key;
    } finally {
      asking = undefined;
    }
  };

  return {
    /** The current key; rejects where the host's function fails. */
    async ask(): Promise<string> {
      if (key !== undefined) return key;
      asking ??= ask();
      return asking;
    },
    /** The key if it is known without asking: a page that goes away cannot wait. */
    current: (): string | undefined => key,
    /** The server refused the key: the function is called again next time. */
    forget(): void {
      if (typeof apiKey !== 'string') key = undefined;
    },
  };
};

export type Keyring = ReturnType<typeof createKeyring>;

/** The host's function: the token of this user, or `null` where it has none. */
export type ProvideToken = (userId: string) => string | null | Promise<string | null>;

/** A token is replaced so long before it ends: its request may take its time, and clocks differ. */
const EARLY_MS = 60_000;
/** After an answer without a token, or a new token that was refused, nothing of this user is sent for so long. */
const PAUSE_MS = 5 * 60_000;
/** The same where the host's function failed. */
const RETRY_MS = 30_000;

interface Held {
  token: string;
  askedAt: number;
  /** Unix milliseconds by the device's clock; a token that cannot be read is good until it is refused. */
  endsAt: number;
}

/** `exp` counts from the device's clock as well as it can: a wrong one is corrected by the service's 401. */
const endOf = (token: string): number => {
  try {
    const claims = atob(token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/'));
    return Number(JSON.parse(claims).exp) * 1_000 || Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
};

/**
 * The tokens that prove the users of this page, in memory: requested when a call needs one, and again before it ends
 * or when the service refused it. Without `provide` requests go out without a token.
 */
export const createUserTokens = (
  provide: ProvideToken | undefined,
  { now, after }: Pick<Clock, 'now' | 'after'>,
  fail: (kind: FailureKind, message: string, cause?: unknown) => void,
) => {
  const held = new Map<string, Held>();
  const asking = new Map<string, Promise<string | undefined>>();
  const pauses = new Map<string, number>();

  const pause = (userId: string, ms: number, message: string, cause?: unknown): void => {
    pauses.set(userId, now() + ms);
    fail('unauthorized', message, cause);
  };

  const current = (userId: string): string | undefined => {
    const found = held.get(userId);
    return found && found.endsAt - EARLY_MS > now() ? found.token : undefined;
  };

  const fetchToken = async (userId: string): Promise<string | undefined> => {
    try {
      const token = await withTimeout(provide!(userId), after, ASK_MS, 'userToken()');
      if (typeof token !== 'string' || token === '') {
        pause(userId, PAUSE_MS, 'userToken() has no token: the events of this user wait');
        return undefined;
      }
      // Good for a minute at least: with a wrong clock of the device each would have ended already.
      const endsAt = Math.max(endOf(token), now() + 2 * EARLY_MS);
      held.set(userId, { token, askedAt: now(), endsAt });
      return token;
    } catch (cause) {
      pause(userId, RETRY_MS, 'userToken() failed: the events of this user wait', cause);
      return undefined;
    }
  };

  const pausedUntil = (userId: string): number => pauses.get(userId) ?? 0;
  const isPaused = (userId: string): boolean => {
    const until = pausedUntil(userId);
    // A time that a clock set back has moved out of reach counts for nothing.
    return until > now() && until - now() <= PAUSE_MS;
  };

  /** A visitor has proven themselves: no other can know their ID. */
  const isNeeded = (userId: string): boolean => provide !== undefined && !isVisitorId(userId);

  return {
    /** Whether the host proves its users at all. */
    isUsed: provide !== undefined,
    isPaused,
    pausedUntil,
    current,
    /** Whether a request of this user can go out now, without asking for a token. */
    isReady: (userId: string): boolean => !isNeeded(userId) || current(userId) !== undefined,
    /** The token to send, if one is needed. `undefined` and a pause where none can be had. */
    async ask(userId: string): Promise<string | undefined> {
      if (!isNeeded(userId) || isPaused(userId)) return undefined;
      const known = current(userId);
      if (known !== undefined) return known;
      // Not inside `fetchToken`: a host that throws at once has it end before it is noted here.
      if (!asking.has(userId))
        asking.set(
          userId,
          fetchToken(userId).finally(() => asking.delete(userId)),
        );
      return asking.get(userId);
    },
    /** The service refused the token that was sent, or that there was none; `fault` is its word for why. */
    refused(userId: string, sent: string | undefined, fault: string): void {
      const found = held.get(userId);
      // Another request had the same answer before.
      if (found?.token !== sent) return;
      held.delete(userId);
      // One that was good a while ago is replaced at once. A new one would only be refused again.
      if (found && now() - found.askedAt > EARLY_MS) return;
      pause(userId, PAUSE_MS, `The service refused the user token: ${fault}. The events of this user wait`);
    },
    /** A user has signed in: what was paused may go out now. False where nothing was. */
    resume(): boolean {
      const had = pauses.size > 0;
      pauses.clear();
      return had;
    },
  };
};

export type UserTokens = ReturnType<typeof createUserTokens>;
