import { MAX_PLACEMENTS } from '../../protocol/index.ts';
import type { Fail, Notify } from '../notices.ts';
import type { Settings } from '../options/options.ts';
import type { PagePermission } from '../permission.ts';
import type { PostJson, UserTokens } from '../platform/http.ts';
import type { LivePermission } from '../platform/page.ts';
import { endPauseEarly, isPaused, noPause } from '../platform/pauses.ts';
import { createRequestBanners } from './request-banners.ts';
import type { SyncFailure, SyncFailures } from './sync-failure.ts';
import type { ReadBanners, SyncResult } from './sync-response.ts';

interface SyncOptions {
  settings: Settings;
  postJson: PostJson;
  userTokens: UserTokens;
  readBanners: ReadBanners;
  permission: Pick<LivePermission<PagePermission>, 'userId' | 'canSync'>;
  onResponse: (result: SyncResult) => void;
  notify: Notify;
  fail: Fail;
  trouble: () => Promise<SyncFailures>;
}

/** Pause after a failure that the trouble chunk could not handle, in milliseconds. */
const UNKNOWN_PAUSE_MS = 60_000;

/**
 * Fetches banners. The placements of one task share one request, at most ten per request. After a failure they are
 * requested again once the pause ends, or with the next sync.
 */
export const createSync = (options: SyncOptions) => {
  const { settings, postJson, userTokens, readBanners, permission } = options;
  const { onResponse, notify, fail, trouble } = options;
  const { now, after } = settings.platform;
  const requestBanners = createRequestBanners(settings, postJson, userTokens, trouble);
  const requested = new Set<string>();
  let cancel: (() => void) | undefined;
  let pause = noPause();
  /** Requests in flight. Each has its own signal, because a shared signal would accumulate listeners. */
  const inFlight = new Set<AbortController>();

  /** Returns the remaining pause in milliseconds. */
  const waitMs = (): number => (isPaused(pause, now()) ? pause.until - now() : 0);

  const schedule = (): void => {
    cancel?.();
    if (requested.size > 0 && permission.canSync()) cancel = after(waitMs(), run);
  };

  const retryLater = async (
    cause: unknown,
    placements: string[],
    controller: AbortController,
  ): Promise<void> => {
    const found = await trouble().catch(() => undefined);
    // Another user may have signed in.
    if (!inFlight.has(controller)) return;
    const failure: SyncFailure = found?.read(cause, pause) ?? {
      pause: { ...noPause(), until: now() + UNKNOWN_PAUSE_MS, failures: 1 },
      kind: 'sync',
      message: String(cause),
    };
    pause = failure.pause;
    if (!failure.isFinal) for (const placementId of placements) requested.add(placementId);
    fail(failure.kind, `Sync of ${placements.join(', ')} failed: ${failure.message}`, cause);
    notify({ type: 'paused', untilMs: pause.until, reason: pause.reason });
  };

  const request = async (user: string, placements: string[]): Promise<void> => {
    const pauseBefore = pause;
    const controller = new AbortController();
    inFlight.add(controller);
    try {
      const { byPlacement, ...received } = await requestBanners(user, placements, controller);
      if (!inFlight.has(controller)) return;
      onResponse({ userId: user, banners: readBanners(placements, byPlacement), ...received });
      // A pause that another request began in the meantime still applies.
      if (pause === pauseBefore) pause = noPause();
    } catch (cause) {
      if (inFlight.has(controller)) await retryLater(cause, placements, controller);
    } finally {
      inFlight.delete(controller);
    }
  };

  const run = async (): Promise<void> => {
    cancel?.();
    const user = permission.userId();
    if (user === null || !permission.canSync() || requested.size === 0) return;
    if (waitMs() > 0) return schedule();
    const all = [...requested];
    requested.clear();
    const batches: string[][] = [];
    for (let at = 0; at < all.length; at += MAX_PLACEMENTS) batches.push(all.slice(at, at + MAX_PLACEMENTS));
    await Promise.all(batches.map((placements) => request(user, placements)));
    schedule();
  };

  const add = (placementIds: Iterable<string>): void => {
    for (const placementId of placementIds) {
      // A page may have read the ID from a missing attribute. The service would reject the whole request.
      if (typeof placementId === 'string' && placementId) requested.add(placementId);
      else fail('config', `Invalid placement ID "${String(placementId)}"`);
    }
  };

  return {
    /** Requests these placements at the end of the task, together with others that are requested by then. */
    queue(placementIds: Iterable<string>): void {
      add(placementIds);
      schedule();
    },
    /** Requests now. Resolves when the response is applied, or the request has failed. */
    async now(placementIds: Iterable<string>): Promise<void> {
      add(placementIds);
      await run();
    },
    /**
     * Ends a pause early, because the network is back or the page is visible again. Requests placements without a result at once.
     */
    retry(): void {
      pause = endPauseEarly(pause, now());
      schedule();
    },
    /** Returns the end of the pause, in Unix milliseconds; the current time if there is no pause. */
    blockedUntilMs: (): number => now() + waitMs(),
    /**
     * Cancels all requests, because the user changed or the client stops, so that no request of the former user is sent
     * afterwards.
     */
    reset(): void {
      requested.clear();
      // The service rejected the token of the former user.
      if (pause.reason === 'unauthorized') pause = noPause();
      cancel?.();
      for (const request of inFlight) request.abort();
      inFlight.clear();
    },
  };
};

export type Sync = ReturnType<typeof createSync>;
