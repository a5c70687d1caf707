import type { BannerCache } from './banners/banner-cache.ts';
import { createReadBanners, type ReadBanners } from './banners/sync-response.ts';
import type { RetryImport } from './deferred-chunk.ts';
import { createLoadChunk, isUnavailable, type LoadChunk } from './load-chunk.ts';
import type { Notice, Notices } from './notices.ts';
import type { Settings } from './options/options.ts';
import type { PagePermission } from './permission.ts';
import type { Placements } from './placements/placements.ts';
import type { SlotSizes } from './placements/slot-sizes.ts';
import {
  createPostJson,
  createUserTokens,
  getApiKey,
  type PostJson,
  parseJson,
  toJson,
  type UserTokens,
} from './platform/http.ts';
import {
  createPageLifecycle,
  type LivePermission,
  type PageLifecycle,
  withLifecycle,
} from './platform/page.ts';
import { withTimeout } from './platform/pauses.ts';
import type { Store } from './platform/store.ts';

type TokenSourceChunk = typeof import('./user/token-source.ts');

/** Placements that this page has requested, and those whose response came from the network. */
export interface Requested {
  placements: Set<string>;
  synced: Set<string>;
}

/** State that the first chunk passes to the deferred one. */
export interface DeferredClientOptions extends Notices {
  settings: Settings;
  retryImport: RetryImport;
  permission: PagePermission;
  cache: BannerCache;
  store: Store;
  placements: Placements;
  slotSizes: SlotSizes;
  deleteStored: () => Promise<void>;
  requested: Requested;
  /** Requests the placement's banner, once per page. */
  requestPlacement: (placementId: string) => void;
  /** Notices emitted until `endBuffer` is called; only with `debug`. */
  buffered: Notice[];
  endBuffer: (() => void) | undefined;
}

/** State shared by the parts of the deferred chunk. */
export interface DeferredContext extends DeferredClientOptions {
  permission: LivePermission<PagePermission>;
  lifecycle: PageLifecycle;
  postJson: PostJson;
  userTokens: UserTokens;
  loadChunk: LoadChunk;
  /** Makes one call with the client key, without retries. `body` is `undefined` if the response is not JSON. */
  post: (path: string, body: object) => Promise<{ status: number; body: unknown }>;
  readBanners: ReadBanners;
  /** Runs work that no caller waits for. A failure is reported as a notice, not as an unhandled rejection. */
  inBackground: (work: Promise<unknown>) => void;
}

export const createDeferredContext = (options: DeferredClientOptions): DeferredContext => {
  const { settings, fail } = options;
  const lifecycle = settings.platform.lifecycle ?? createPageLifecycle();
  const { endpoint, apiKey, platform } = settings;
  const { userTokens } = settings.use;
  const loadChunk = createLoadChunk(options.retryImport, platform.after, fail);
  const postJson = createPostJson(endpoint, platform.after, platform.fetch);
  return {
    ...options,
    postJson,
    lifecycle,
    permission: withLifecycle(options.permission, lifecycle),
    loadChunk,
    userTokens: createUserTokens(
      userTokens &&
        (async (pause) => {
          const { createTokenSource } = (await loadChunk(userTokens.loadSource)) as TokenSourceChunk;
          return createTokenSource({ ...platform, ...userTokens, pause, withTimeout });
        }),
      platform.now,
      fail,
    ),
    async post(path, body) {
      const key = await getApiKey(apiKey, platform.after);
      const { status, text } = await postJson(path, { body: toJson(body), key });
      return { status, body: parseJson(text) };
    },
    readBanners: createReadBanners(fail),
    inBackground: (work) =>
      // A chunk that cannot be loaded was already reported.
      void work.catch((cause) => isUnavailable(cause) || fail('internal', `Internal error: ${cause}`, cause)),
  };
};
