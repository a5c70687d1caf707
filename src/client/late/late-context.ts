import type { BannerCache } from '../banners/banner-cache.ts';
import type { Consent } from '../first/consent.ts';
import type { Notices } from '../first/notices.ts';
import type { Settings } from '../first/read-options.ts';
import type { Requested } from '../first/requested.ts';
import type { Notice } from '../notice.ts';
import type { Boxes } from '../placements/box.ts';
import { createBoxMemory } from '../placements/box-memory.ts';
import type { Placements } from '../placements/placements.ts';
import { createPageLifecycle, type PageLifecycle } from '../platform/page-lifecycle.ts';
import type { Store } from '../platform/store.ts';
import { createUserTokens, type UserTokens } from './user-tokens.ts';

/** What the first chunk hands on. */
export interface LateClientOptions extends Notices {
  settings: Settings;
  consent: Consent;
  cache: BannerCache;
  store: Store;
  placements: Placements;
  boxes: Boxes;
  /** Where the profile keeps its visitor. */
  visitorKey: string;
  requested: Requested;
  /** The notices so far, for `debug`, until `forgetEarly` is called. */
  early: Notice[];
  forgetEarly: () => void;
}

/** What the parts of the late chunk share. */
export interface LateContext extends LateClientOptions {
  lifecycle: PageLifecycle;
  userTokens: UserTokens;
  boxMemory: ReturnType<typeof createBoxMemory>;
  /** False without consent, and once the client is stopped. */
  isActive: () => boolean;
  /** The same for what is kept on the device. */
  mayWrite: () => boolean;
  /** For work that nothing waits for: its failure is a notice, and not thrown into the page. */
  inBackground: (work: Promise<unknown>) => void;
}

export const createLateContext = (options: LateClientOptions, isStopped: () => boolean): LateContext => {
  const { settings, consent, boxes, fail } = options;
  const mayWrite = () => consent.mayWrite() && !isStopped();
  return {
    ...options,
    lifecycle: settings.platform.lifecycle ?? createPageLifecycle(),
    userTokens: createUserTokens(settings.userToken, settings.platform, fail),
    boxMemory: createBoxMemory(boxes, mayWrite),
    isActive: () => consent.mayAct() && !isStopped(),
    mayWrite,
    inBackground: (work) =>
      void work.catch((cause) => fail('internal', 'Something unexpected went wrong', cause)),
  };
};
