import { createReadBanners, type ReadBanners } from './banners/answers.ts';
import type { BannerCache } from './banners/banner-cache.ts';
import type { Consent } from './consent/consent.ts';
import { askKey, createUserTokens, type UserTokens } from './credentials/credentials.ts';
import type { ImportAgain } from './late-chunk.ts';
import { isUnavailable } from './load-once.ts';
import type { Notice, Notices } from './notices.ts';
import type { Settings } from './options/options.ts';
import type { Boxes } from './placements/box.ts';
import type { Placements } from './placements/placements.ts';
import { createPostJson, parseJson, toJson } from './platform/http.ts';
import { createPageLifecycle, type PageLifecycle } from './platform/page-lifecycle.ts';
import type { Store } from './platform/store.ts';
import type { CurrentUser } from './user/current-user.ts';

/** Placements that this page has requested, and those whose answer came from the network. */
export interface Requested {
  placements: Set<string>;
  answered: Set<string>;
}

/** How long a call may take that is not repeated. */
const TIMEOUT_MS = 15_000;

/** What the first chunk gives to the late one. */
export interface LateClientOptions extends Notices {
  settings: Settings;
  importAgain: ImportAgain;
  consent: Consent;
  user: CurrentUser;
  cache: BannerCache;
  store: Store;
  placements: Placements;
  boxes: Boxes;
  forgetStored: () => Promise<void>;
  /** The client has stopped: what was tracked before is still stored, and nothing else begins. */
  isStopped: () => boolean;
  requested: Requested;
  /** Requests the placement's banner, once a page. */
  want: (placementId: string) => void;
  /** With `debug`: the notices so far, until `forgetEarly` is called. */
  early: Notice[];
  forgetEarly: (() => void) | undefined;
}

/** What the parts of the late chunk share. */
export interface LateContext extends LateClientOptions {
  lifecycle: PageLifecycle;
  userTokens: UserTokens;
  /** False without consent, and once the client is stopped. */
  isActive: () => boolean;
  /** Whether anything may be kept on the device. False once the client is stopped. */
  mayWrite: () => boolean;
  /** One call with the client's key, which is not repeated. The answer's body is `undefined` where it is no JSON. */
  post: (path: string, body: object) => Promise<{ status: number; body: unknown }>;
  readBanners: ReadBanners;
  /** For work that nothing waits for: its failure is a notice, and not thrown into the page. */
  inBackground: (work: Promise<unknown>) => void;
}

export const createLateContext = (options: LateClientOptions): LateContext => {
  const { settings, consent, isStopped, fail } = options;
  const mayWrite = () => consent.mayWrite() && !isStopped();
  const { endpoint, apiKey, platform } = settings;
  const postJson = createPostJson(endpoint, platform.fetch);
  return {
    ...options,
    lifecycle: settings.platform.lifecycle ?? createPageLifecycle(),
    userTokens: createUserTokens(settings.userToken, settings.platform, fail),
    isActive: () => consent.mayAct() && !isStopped(),
    mayWrite,
    async post(path, body) {
      const key = await askKey(apiKey, platform.after);
      // Not `AbortSignal.timeout`: Chrome has it since version 103.
      const abort = new AbortController();
      const cancel = platform.after(TIMEOUT_MS, () => abort.abort());
      try {
        const { status, text } = await postJson(path, {
          body: toJson(body),
          key,
          signal: abort.signal,
        });
        return { status, body: parseJson(text) };
      } finally {
        cancel();
      }
    },
    readBanners: createReadBanners(fail),
    inBackground: (work) =>
      // Of a chunk that could not be loaded there was a notice.
      void work.catch(
        (cause) => isUnavailable(cause) || fail('internal', 'Something unexpected went wrong', cause),
      ),
  };
};
