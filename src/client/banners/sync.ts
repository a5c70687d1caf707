import ky, { HTTPError } from 'ky';
import {
  MAX_PLACEMENTS,
  readBanner,
  readRateLimit,
  readSyncAnswer,
  SYNC_PATH,
  type SyncRequest,
  toBanner,
  USER_TOKEN_HEADER,
  USER_TOKEN_MEMBER,
} from '../../protocol/index.ts';
import type { Banner } from '../banner.ts';
import type { FailureKind, Notice, Notify } from '../notice.ts';
import { isAhead, LONGEST_WAIT_MS } from '../platform/deadline.ts';
import { createKeyring } from '../platform/keyring.ts';
import type { Settings } from '../read-options.ts';
import type { UserTokens } from '../user-tokens.ts';
import { clockSkewMs } from './server-clock.ts';

const TIMEOUT_MS = 15_000;
/** Quick retries within one sync, for a server that stumbles. */
const RETRIES = 2;
/** A server that wants a longer pause gets no further request within one sync. */
const MAX_PAUSE_MS = 10_000;
/** After a sync without a usable answer the next one waits this long, twice as long each time, jittered. */
const FIRST_WAIT_MS = 30_000;

/** What a sync brought home. */
export interface SyncResult {
  userId: string;
  /** By placement. */
  banners: Map<string, Banner | null>;
  /** When it was requested, in Unix milliseconds of this device; grows with each request. */
  askedAtMs: number;
  clockSkewMs: number | undefined;
}

interface SyncOptions {
  settings: Settings;
  userTokens: UserTokens;
  userId: () => string | null;
  /** False while no request may be made: no consent, or a page that is only prerendered. */
  maySync: () => boolean;
  onAnswer: (result: SyncResult) => void;
  /** The service wants fewer requests. */
  onRateLimit: () => void;
  notify: Notify;
}

/** The kind of the notice and the reason of the wait for a refusal, by its status; anything else is a failure that backs off. */
const REFUSALS: Record<number, [kind: FailureKind, reason: Extract<Notice, { type: 'waiting' }>['reason']]> =
  {
    401: ['unauthorized', 'unauthorized'],
    403: ['unauthorized', 'unauthorized'],
    404: ['not-found', 'not-found'],
    429: ['sync', 'rate-limit'],
  };

/** 0 where there was no answer, or none that could be used. */
const statusOf = (cause: unknown): number => (cause instanceof HTTPError ? cause.response.status : 0);

/** The cause for the reader of a log: the service's own words, where it had some. */
const reasonOf = (cause: unknown): string => {
  if (!(cause instanceof HTTPError)) return String(cause);
  const { data, response } = cause as HTTPError<{ message?: unknown; error?: unknown }>;
  const words = typeof data === 'object' && (data?.message || data?.error);
  return `${response.status} ${words || response.statusText}`;
};

/** The pause that the service requests, 0 where it does not say. A 5xx may carry the reset of a window that is not used up. */
const requestedWaitMs = (cause: unknown, nowMs: number): number => {
  if (!(cause instanceof HTTPError)) return 0;
  const { headers, status } = cause.response;
  const speaks = status === 429 || headers.has('retry-after');
  return (speaks && readRateLimit(headers, 'epoch', nowMs).retryAfterMs) || 0;
};

/**
 * Fetches banners: the placements of one task go into one request, at most ten each. ky retries a moment later, and only
 * where a server or the network failed; everything slower is the timer's here.
 */
export const createSync = (options: SyncOptions) => {
  const { settings, userTokens, userId, maySync, onAnswer, onRateLimit, notify } = options;
  const { endpoint, apiKey, appId, appVersion, deviceId, platform } = settings;
  const { now, after, random, fetch } = platform;
  const requested = new Set<string>();
  /** Placements that an answer left out. */
  const unknown = new Set<string>();
  let cancel: (() => void) | undefined;
  let lastAskedAtMs = 0;
  let failures = 0;
  let blockedUntilMs = 0;
  /** A new network or a new look at the page may lift the block; a refusal by the service is not lifted so. */
  let mayHurry = true;
  let stopped = false;
  /** Requests under way. Each has a signal of its own: one for all would keep what each of them hangs on it. */
  const underWay = new Set<AbortController>();
  /** Ends the requests under way, their retries as well: their user has left. */
  const abortAll = (): void => {
    for (const request of underWay) request.abort();
  };

  /** How long no request may be made: a time that a clock set back has moved out of reach counts for nothing. */
  const waitMs = (): number => (isAhead(blockedUntilMs, now(), LONGEST_WAIT_MS) ? blockedUntilMs - now() : 0);

  const arm = (): void => {
    cancel?.();
    if (!stopped && requested.size > 0) cancel = after(waitMs(), run);
  };

  /** Says once of each placement that the service does not know it. */
  const reportUnknown = (placementId: string): void => {
    if (unknown.has(placementId)) return;
    unknown.add(placementId);
    const message = `The service has no placement "${placementId}": check its spelling, and that the workspace has it`;
    notify({ type: 'failed', kind: 'config', message });
  };

  /** Read for each sync, so that a key that is replaced is never sent in vain. */
  const readKey = (): Promise<string> => createKeyring(apiKey, after).ask();

  /** The key to try a refused request with once more; throws where that would change nothing. */
  const betterKey = async (user: string, key: string, cause: unknown): Promise<string> => {
    const fault = cause instanceof HTTPError ? cause.response.headers.get(USER_TOKEN_HEADER) : null;
    if (fault !== null) {
      userTokens.refused(user, fault);
      if ((await userTokens.ask(user)) === undefined) throw cause;
      return key;
    }
    // Only a key function can have a better key at once.
    const next = REFUSALS[statusOf(cause)]?.[0] === 'unauthorized' ? await readKey() : key;
    if (next === key) throw cause;
    return next;
  };

  const post = async (
    user: string,
    placements: string[],
    key: string,
    signal: AbortSignal,
  ): Promise<void> => {
    const token = await userTokens.ask(user);
    // The key or the token may have taken its time.
    signal.throwIfAborted();
    if (!userTokens.isReady(user)) throw new Error('there is no user token');
    const sentAtMs = now();
    // Strictly growing, so that of two answers the later question wins whatever the clock does.
    const askedAtMs = Math.max(sentAtMs, lastAskedAtMs + 1);
    lastAskedAtMs = askedAtMs;
    const body: SyncRequest & { [USER_TOKEN_MEMBER]?: string } = {
      external_user_id: user,
      app_id: appId,
      app_version: appVersion,
      placements,
    };
    if (deviceId) body.device_id = deviceId;
    if (token) body[USER_TOKEN_MEMBER] = token;
    const asking = ky.post(endpoint + SYNC_PATH, {
      json: body,
      headers: { authorization: `Bearer ${key}` },
      // Called on nothing: the browser's own refuses to be called on an object of ky's.
      ...(fetch && { fetch: (input, init) => fetch(input, init) }),
      timeout: TIMEOUT_MS,
      signal,
      // The key must not travel to where a redirect points.
      redirect: 'error',
      credentials: 'omit',
      retry: {
        limit: RETRIES,
        methods: ['post'],
        statusCodes: [408, 500, 502, 503, 504],
        maxRetryAfter: MAX_PAUSE_MS,
        shouldRetry: ({ error }) => (requestedWaitMs(error, now()) > MAX_PAUSE_MS ? false : undefined),
        jitter: true,
      },
    });
    const { headers } = await asking;
    const skew = clockSkewMs(headers, sentAtMs, now());
    const answered = readSyncAnswer(await asking.json());
    if (!answered) throw new Error('the answer has no "banners"');
    // Who brings a fetch of their own may answer all the same.
    signal.throwIfAborted();
    const banners: SyncResult['banners'] = new Map();
    for (const placementId of placements) {
      // A placement that is missing was not answered; only null says that there is none.
      if (!Object.hasOwn(answered, placementId)) {
        reportUnknown(placementId);
        continue;
      }
      const sent = answered[placementId];
      const banner = sent === null ? null : readBanner(placementId, sent);
      // Nor was one whose banner cannot be read.
      if (typeof banner === 'string') {
        const message = `The banner of "${placementId}" cannot be read: its ${banner} is wrong`;
        notify({ type: 'failed', kind: 'property', message, cause: sent });
      } else banners.set(placementId, banner && toBanner(banner));
    }
    onAnswer({ userId: user, banners, askedAtMs, clockSkewMs: skew });
  };

  const fail = (cause: unknown, placements: string[]): void => {
    const status = statusOf(cause);
    const isLimited = status === 429;
    const requestedMs = requestedWaitMs(cause, now());
    // Requests that fail side by side are one failure.
    if (waitMs() === 0) failures += 1;
    const backoff = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1)) * (0.5 + random() / 2);
    // Of requests that fail side by side, one that the service has refused is not to be hurried by the others.
    mayHurry = (status === 0 || status >= 500) && requestedMs === 0 && (mayHurry || waitMs() === 0);
    // A time that has passed already says nothing, and a server that is down may not know better than the backoff.
    const own = isLimited && requestedMs > 0 ? requestedMs : Math.max(requestedMs, backoff);
    blockedUntilMs = now() + Math.max(waitMs(), own);
    if (isLimited) onRateLimit();
    // A request that is wrong in itself is not improved by asking again.
    if (status !== 400) for (const placementId of placements) requested.add(placementId);
    const [kind, reason] = REFUSALS[status] ?? ['sync', 'backoff'];
    const message = `Sync of ${placements.join(', ')} had no usable answer: ${reasonOf(cause)}`;
    notify({ type: 'failed', kind, message, cause });
    notify({ type: 'waiting', untilMs: blockedUntilMs, reason });
  };

  const ask = async (user: string, placements: string[]): Promise<void> => {
    const blockedBefore = blockedUntilMs;
    const request = new AbortController();
    const { signal } = request;
    underWay.add(request);
    try {
      const key = await readKey();
      try {
        await post(user, placements, key, signal);
      } catch (cause) {
        await post(user, placements, await betterKey(user, key, cause), signal);
      }
      // A wait that another request has begun meanwhile still holds.
      if (blockedUntilMs !== blockedBefore) return;
      failures = 0;
      blockedUntilMs = 0;
    } catch (cause) {
      if (!signal.aborted) fail(cause, placements);
    } finally {
      underWay.delete(request);
    }
  };

  const run = async (): Promise<void> => {
    cancel?.();
    const user = userId();
    if (stopped || user === null || !maySync() || requested.size === 0) return;
    if (waitMs() > 0) return arm();
    const all = [...requested];
    requested.clear();
    const batches: string[][] = [];
    for (let at = 0; at < all.length; at += MAX_PLACEMENTS) batches.push(all.slice(at, at + MAX_PLACEMENTS));
    await Promise.all(batches.map((placements) => ask(user, placements)));
    arm();
  };

  const add = (placementIds: Iterable<string>): void => {
    for (const placementId of placementIds) {
      // A page may have taken it from an attribute that is not there. The whole request would be refused for it.
      if (typeof placementId === 'string' && placementId) requested.add(placementId);
      else notify({ type: 'failed', kind: 'config', message: `"${String(placementId)}" is no placement ID` });
    }
  };

  return {
    /** Requests these placements at the end of the task, together with all others by then. */
    want(placementIds: Iterable<string>): void {
      add(placementIds);
      arm();
    },
    /** Requests now; resolves when the answer is applied, or there is none. */
    async now(placementIds: Iterable<string>): Promise<void> {
      add(placementIds);
      await run();
    },
    /** The network is back or the page is visible again: placements without an answer may be requested once at once. */
    hurry(): void {
      if (mayHurry) blockedUntilMs = 0;
      mayHurry = false;
      arm();
    },
    /** Until when no request may be made; a time that has passed where it may. */
    blockedUntilMs: (): number => now() + waitMs(),
    /** Another user, or none: no placement of the former one is requested any more, and nothing of theirs leaves the tab. */
    reset(): void {
      requested.clear();
      cancel?.();
      abortAll();
    },
    stop(): void {
      stopped = true;
      cancel?.();
      abortAll();
    },
  };
};

export type Sync = ReturnType<typeof createSync>;
