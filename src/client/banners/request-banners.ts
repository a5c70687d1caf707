import { readSyncResponse, SYNC_PATH, type SyncRequest, USER_TOKEN_MEMBER } from '../../protocol/index.ts';
import type { Settings } from '../options/options.ts';
import {
  getApiKey,
  type HttpResponse,
  type PostJson,
  parseJson,
  toJson,
  type UserTokens,
} from '../platform/http.ts';
import type { SyncFailures, SyncRejection } from './sync-failure.ts';

/**
 * Minimum difference that means a wrong clock. A smaller one comes from the network and the header's resolution of one second.
 */
const THRESHOLD_MS = 60_000;

/** Returns server time minus device time in milliseconds; `undefined` if the response does not expose its date. */
export const clockSkewMs = (headers: Headers, sentAtMs: number, receivedAtMs: number): number | undefined => {
  const date = Date.parse(headers.get('date') ?? '');
  if (Number.isNaN(date)) return undefined;
  const skew = date - (sentAtMs + receivedAtMs) / 2;
  return Math.abs(skew) < THRESHOLD_MS ? 0 : Math.round(skew);
};

// Not a class, because a browser's console would print its minified name.
const syncRejection = (response: HttpResponse, sentToken?: string): SyncRejection =>
  Object.assign(new Error(`HTTP ${response.status}`), { response, sentToken });

/** Contents of a response, not yet validated. */
export interface ReceivedBanners {
  byPlacement: Record<string, unknown>;
  /** Request time in Unix milliseconds of the device. Increases with each request. */
  fetchedAtMs: number;
  clockSkewMs: number | undefined;
}

/**
 * Makes one `banners/sync` call with the key and the user token. If the key or token is rejected, retries once with a new one.
 */
export const createRequestBanners = (
  settings: Settings,
  postJson: PostJson,
  userTokens: UserTokens,
  trouble: () => Promise<SyncFailures>,
) => {
  const { apiKey, appId, appVersion, deviceId, platform } = settings;
  const { now, after } = platform;
  let lastRequestAtMs = 0;

  const requestWith = async (
    key: string,
    user: string,
    placements: string[],
    abort: AbortController,
  ): Promise<ReceivedBanners> => {
    const token = await userTokens.get(user);
    // The request may have been aborted while the key or the token was awaited.
    abort.signal.throwIfAborted();
    if (!userTokens.isReady(user)) throw new Error('no user token');
    const sentAtMs = now();
    // Strictly increasing, so that the response to the later request wins even if the clock is set back.
    const fetchedAtMs = Math.max(sentAtMs, lastRequestAtMs + 1);
    lastRequestAtMs = fetchedAtMs;
    const body: SyncRequest & { [USER_TOKEN_MEMBER]?: string } = {
      external_user_id: user,
      app_id: appId,
      app_version: appVersion,
      placements,
      ...(deviceId && { device_id: deviceId }),
      ...(token && { [USER_TOKEN_MEMBER]: token }),
    };
    const response = await postJson(SYNC_PATH, { body: toJson(body), key, abort });
    if (response.status < 200 || response.status >= 300) throw syncRejection(response, token);
    const byPlacement = readSyncResponse(parseJson(response.text));
    if (!byPlacement) throw new Error('the response has no "banners"');
    return { byPlacement, fetchedAtMs, clockSkewMs: clockSkewMs(response.headers, sentAtMs, now()) };
  };

  return async (user: string, placements: string[], abort: AbortController): Promise<ReceivedBanners> => {
    // Requested for each sync, so that a replaced key is never sent.
    const getKey = () => getApiKey(apiKey, after);
    const key = await getKey();
    try {
      return await requestWith(key, user, placements, abort);
    } catch (cause) {
      const found = Object(cause).response && (await trouble().catch(() => undefined));
      if (!found) throw cause;
      return requestWith(await found.betterKey(user, key, cause, getKey), user, placements, abort);
    }
  };
};
