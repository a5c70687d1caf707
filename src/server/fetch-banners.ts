import {
  type BannerBootstrap,
  MAX_PLACEMENTS,
  readBanner,
  readSyncAnswer,
  SYNC_PATH,
  toBanner,
  USER_TOKEN_MEMBER,
} from '../protocol/index.ts';
import { createCall } from './call.ts';
import { type ApiAddress, checkTimeLimit, endpointOf } from './options.ts';
import { sleep } from './pace.ts';

/** Whose banners a server asks for, and for how long it waits. */
export type FetchBannersOptions = ApiAddress & {
  /** The client key that the page has, too. */
  apiKey: string;
  appId: string;
  appVersion: string;
  userId: string;
  /** At most 10. */
  placements: readonly string[];
  /** Proof of the user, where the app takes it: `await signUserToken(…)`. */
  userToken?: string;
  deviceId?: string;
  fetch?: typeof fetch;
  /** Longest wait for the answer, in whole milliseconds. Default 1,000: a page must not wait for its banners. */
  timeoutMs?: number;
  /** Receives why there is no answer, or a banner that cannot be read. Default a warning on the console. */
  onError?: (error: Error) => void;
  /** Unix milliseconds. */
  now?: () => number;
};

const TIMEOUT_MS = 1_000;

const warn = (error: Error) => console.warn(`Placard: page rendered without banners: ${error.message}`);

/** A placement that is not here was not answered: the browser asks again. */
const bannersOf = (
  answer: unknown,
  placements: readonly string[],
  onError: (error: Error) => void,
): BannerBootstrap['banners'] => {
  const answered = readSyncAnswer(answer);
  if (answered === undefined) {
    onError(new Error(`POST ${SYNC_PATH} answered no banners`));
    return {};
  }
  const found = placements.flatMap((placement): [string, BannerBootstrap['banners'][string]][] => {
    if (!Object.hasOwn(answered, placement)) return [];
    const banner = answered[placement];
    if (banner === null) return [[placement, null]];
    const read = readBanner(placement, banner);
    if (typeof read !== 'string') return read.is_test_send ? [] : [[placement, toBanner(read)]];
    onError(new Error(`The banner of "${placement}" cannot be read: ${read} is not valid`));
    return [];
  });
  return Object.fromEntries(found);
};

/**
 * Asks for a user's banners once, to render them on a server. What it resolves with is plain JSON for the browser. Where
 * there is no answer in time it has no banners, and `onError` receives why: a page is never lost over a banner. Throws a
 * `TypeError` for options that cannot be used.
 */
export const fetchBanners = async (options: FetchBannersOptions): Promise<BannerBootstrap> => {
  const { apiKey, appId, appVersion, userId, userToken, deviceId, timeoutMs = TIMEOUT_MS } = options;
  const { now = Date.now, onError = warn } = options;
  const placements = [...new Set(options.placements)];
  if (placements.length === 0 || placements.length > MAX_PLACEMENTS)
    throw new TypeError(`placements: expected 1 to ${MAX_PLACEMENTS}, got ${placements.length}`);
  for (const name of ['apiKey', 'appId', 'appVersion', 'userId'] as const) {
    if (typeof options[name] !== 'string' || options[name] === '')
      throw new TypeError(`${name}: expected a text`);
  }
  checkTimeLimit(timeoutMs);
  const call = createCall({
    endpoint: endpointOf(options),
    apiKey,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    maxAttempts: 1,
    timeoutMs,
    now,
    random: Math.random,
    sleep,
    onRetry: () => undefined,
  });
  const askedAtMs = now();
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
    const answer = await call({
      method: 'POST',
      path: SYNC_PATH,
      body: JSON.stringify(request),
      resetKind: 'epoch',
      repeatable: true,
    });
    banners = bannersOf(answer.body, placements, onError);
  } catch (error) {
    onError(error as Error);
  }
  return { version: 1, appId, userId, askedAtMs, banners };
};
