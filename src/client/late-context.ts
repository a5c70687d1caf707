import type { BannerCache } from './banners/banner-cache.ts';
import type { Consent } from './consent/consent.ts';
import { createUserTokens, type UserTokens } from './credentials/user-tokens.ts';
import type { Notice, Notices } from './notices.ts';
import type { Settings } from './options/read-options.ts';
import type { Boxes } from './placements/box.ts';
import { createBoxMemory } from './placements/box-memory.ts';
import type { Placements } from './placements/placements.ts';
import { createPageLifecycle, type PageLifecycle } from './platform/page-lifecycle.ts';
import type { Store } from './platform/store.ts';

/** Placements that this page has requested, and those whose answer came from the network. */
export interface Requested {
  placements: Set<string>;
  answered: Set<string>;
}

/** The user that the client works for. */
export interface WhoIsHere {
  /** The user who has signed in. */
  signedIn(): string | null;
  /** The same, or else the visitor. */
  id(): string | null;
  /** Reads what is stored of them. */
  openCache(): Promise<void>;
}

/** What the first chunk hands on. */
export interface LateClientOptions extends Notices {
  settings: Settings;
  consent: Consent;
  cache: BannerCache;
  store: Store;
  placements: Placements;
  boxes: Boxes;
  forgetStored: () => Promise<void>;
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
