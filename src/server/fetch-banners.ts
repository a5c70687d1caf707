import {
  type BannerBootstrap,
  MAX_PLACEMENTS,
  readBanner,
  readSyncResponse,
  SYNC_PATH,
  toBanner,
  USER_TOKEN_MEMBER,
} from '../protocol/index.ts';
import { createCall } from './call.ts';
import { type ApiAddress, checkTimeLimit, parseEndpoint } from './options.ts';
import { sleep } from './rate-limiter.ts';

/** Options of `fetchBanners`. */
export type FetchBannersOptions = ApiAddress & {
  /** The client key of the page. */
  apiKey: string;
  appId: string;
  appVersion: string;
  userId: string;
  /** IDs of at most 10 placements. */
  placements: readonly string[];
  /** User token from `signUserToken`, if the app accepts user tokens. */
  userToken?: string | undefined;
  deviceId?: string | undefined;
  fetch?: typeof fetch | undefined;
  /** Timeout in whole milliseconds. Default 1,000. */
  timeoutMs?: number | undefined;
  /** Called on failure, and for each invalid banner. Default: a console warning. */
  onError?: ((error: Error) => void) | undefined;
  /** Unix milliseconds. */
  now?: (() => number) | undefined;
};

const TIMEOUT_MS = 1_000;

const warn = (error: Error) => console.warn(`Placard: page rendered without banners: ${error.message}`);

/** Reads the banners of a response. Leaves out placements without a response, which the browser requests. */
const readBanners = (
  body: unknown,
  placements: readonly string[],
  onError: (error: Error) => void,
): BannerBootstrap['banners'] => {
  const received = readSyncResponse(body);
  if (received === undefined) {
    onError(new Error(`POST ${SYNC_PATH} returned no banners`));
    return {};
  }
  const found = placements.flatMap((placement): [string, BannerBootstrap['banners'][string]][] => {
    if (!Object.hasOwn(received, placement)) return [];
    const banner = received[placement];
    if (banner === null) return [[placement, null]];
    const read = readBanner(placement, banner);
    if (typeof read !== 'string') return read.is_test_send ? [] : [[placement, toBanner(read)]];
    onError(new Error(`invalid banner of "${placement}": ${read}`));
    return [];
  });
  return Object.fromEntries(found);
};

/**
 * Requests the banners of a user for server rendering. Returns plain JSON for the `bootstrap` option of the client, without banners
 * if the request fails. Throws `TypeError` if an option is invalid.
 */
export const fetchBanners = async (options: FetchBannersOptions): Promise<BannerBootstrap> => {
  const { apiKey, appId, appVersion, userId, userToken, deviceId, timeoutMs = TIMEOUT_MS } = options;
  const { now = Date.now, onError = warn } = options;
  const placements = [...new Set(options.placements)];
  if (placements.length === 0 || placements.length > MAX_PLACEMENTS)
    throw new TypeError(`placements: expected 1 to ${MAX_PLACEMENTS}, got ${placements.length}`);
  for (const name of ['apiKey', 'appId', 'appVersion', 'userId'] as const) {
    if (typeof options[name] !== 'string' || options[name] === '')
      throw new TypeError(`${name}: expected a string`);
  }
  checkTimeLimit(timeoutMs);
  const call = createCall({
    endpoint: parseEndpoint(options),
    apiKey,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    maxAttempts: 1,
    timeoutMs,
    now,
    random: Math.random,
    sleep,
    onRetry: () => undefined,
  });
  const fetchedAtMs = now();
  const request = {
    external_user_id: userId,
    app_id: appId,
    app_version: appVersion,
    placements,
    ...(deviceId !== undefined && { device_id: deviceId }),
    ...(userToken !== undefined && { [USER_TOKEN_MEMBER]: userToken }),
  };
  let banners: BannerBootstrap['banners'] = {};
  try {
    const response = await call({
      method: 'POST',
      path: SYNC_PATH,
      body: JSON.stringify(request),
      resetKind: 'epoch',
      idempotent: true,
    });
    banners = readBanners(response.body, placements, onError);
  } catch (error) {
    onError(error instanceof Error ? error : new Error(String(error), { cause: error }));
  }
  return { version: 1, appId, userId, fetchedAtMs, banners };
};
