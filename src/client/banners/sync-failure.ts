import { extendPause } from '../delivery/trouble/backoff.ts';
import { parseErrorResponse } from '../delivery/trouble/response.ts';
import type { SharedFunctions } from '../delivery/trouble/shared-functions.ts';
import type { FailureKind } from '../notices.ts';
import type { Settings } from '../options/options.ts';
import type { HttpResponse, UserTokens } from '../platform/http.ts';
import type { Pause } from '../platform/pauses.ts';

export interface SyncRejection extends Error {
  response: HttpResponse;
  sentToken: string | undefined;
}

/** Consequence of a failed sync. */
export interface SyncFailure {
  pause: Pause;
  kind: FailureKind;
  message: string;
  /** Whether the request is invalid, so that a retry would be rejected as well. */
  isFinal?: boolean;
}

const isSyncRejection = (cause: unknown): cause is SyncRejection => Object(cause).response;

/** Handles failed syncs: gets another key or token, and determines the pause until the next request. */
export const createSyncFailures = (
  shared: SharedFunctions,
  settings: Settings,
  userTokens: UserTokens,
  /** Called after a rate-limit response. */
  onRateLimit: () => void,
) => {
  const { now, random } = settings.platform;

  return {
    /** Returns the key for one retry of a rejected request. Throws `cause` if a retry would fail again. */
    async betterKey(
      user: string,
      key: string,
      cause: unknown,
      getKey: () => Promise<string>,
    ): Promise<string> {
      if (!isSyncRejection(cause)) throw cause;
      const { response, sentToken } = cause;
      const fault = response.headers.get(shared.USER_TOKEN_HEADER);
      if (fault !== null) {
        userTokens.reject(user, sentToken, fault);
        if ((await userTokens.get(user)) === undefined) throw cause;
        return key;
      }
      // Only a key function can return a better key at once.
      const isUnauthorized = parseErrorResponse(shared, response, now()).reason === 'unauthorized';
      const next = isUnauthorized ? await getKey() : key;
      if (next === key) throw cause;
      return next;
    },
    read(cause: unknown, before: Pause): SyncFailure {
      const response = isSyncRejection(cause) ? cause.response : undefined;
      const parsed = response && parseErrorResponse(shared, response, now());
      const { reason = 'backoff', requestedMs = 0 } = parsed ?? {};
      if (reason === 'rate-limit') onRateLimit();
      return {
        pause: extendPause(shared, before, { reason, requestedMs }, now(), random),
        kind: reason === 'unauthorized' || reason === 'not-found' ? reason : 'sync',
        message: parsed?.message ?? Object(cause).message ?? String(cause),
        isFinal: response?.status === 400,
      };
    },
  };
};

export type SyncFailures = ReturnType<typeof createSyncFailures>;
