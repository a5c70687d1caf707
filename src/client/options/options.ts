import {
  type BannerBootstrap,
  INSTANCES,
  MAX_APP_VERSION_CHARACTERS,
  parseUrl,
} from '../../protocol/index.ts';
import type { Addition } from '../addition.ts';
import type { Banner } from '../banner.ts';
import type { ProvideToken } from '../credentials/credentials.ts';
import type { Correct } from '../delivery/delivery.ts';
import type { EmptySlot } from '../placement-hook.ts';
import { createClock } from '../platform/clock.ts';
import { createIdbStore } from '../platform/idb-store.ts';
import type { PageLifecycle } from '../platform/page-lifecycle.ts';
import type { Store } from '../platform/store.ts';
import type { TabLink } from '../platform/tab-channel.ts';
import type { BannerOptions, Choices, DeliveryChoices, EndpointOptions } from './choices.ts';

interface CommonOptions {
  /** The client-side key, or a function that gives the current one: called again after a 401 or 403. */
  apiKey: string | (() => string | Promise<string>);
  /** The app of the workspace. */
  appId: string;
  /** At most 255 characters. */
  appVersion: string;
  /** `null` while no user is signed in: nothing is synced or tracked, but for visitors. */
  userId: string | null;
  /** Features that the page imports: `[visitors(), selectors({ card })]`. Default: none. */
  use?: readonly Addition[] | undefined;
  /**
   * Proof of the user, where the app takes or needs it: a token of your backend for this user ID, or `null` where there is
   * none, for example of a user who signed in before. Called when a request needs a token, and again before it ends or when
   * the service refused it; until there is one, the events of this user wait. Default: no token is sent.
   */
  userToken?: ProvideToken | undefined;
  /**
   * What `fetchBanners` of `placard/server` has answered for this user: it is shown at once, where the cache has nothing newer.
   * Default: none.
   */
  bootstrap?: BannerBootstrap | null | undefined;
  /** Sent with each sync, where the app has one. Default: none. */
  deviceId?: string | undefined;
  /**
   * `'disabled'`, and any other word: nothing is stored, synced or sent until `enable()`. `'pending'`: banners are shown, and
   * what happens is kept in memory until `enable()`, which stores it, or `disable()`, which forgets it. `'gpc'`: `'disabled'` where the
   * browser sends Global Privacy Control, else `'enabled'`. Default `'enabled'`.
   */
  consent?: 'enabled' | 'disabled' | 'pending' | 'gpc' | undefined;
  /**
   * The host's word before a banner is shown, for pages where something else comes first, such as a consent dialog: `false`, or a promise of
   * it, keeps the slot empty, and a control banner uncounted. Asked once for each banner of a mounted slot; again with `reconsider()` and
   * `refresh()`. Where it throws, the slot stays empty, and there is a `failed` notice. Default: every banner is shown.
   */
  mayShow?:
    | ((banner: Banner, slot: Pick<EmptySlot, 'element' | 'placementId'>) => boolean | Promise<boolean>)
    | undefined;
  /** Repairs events that the server skipped. Default: send again as they are, up to `maxAttempts`. */
  correct?: Correct | undefined;
  /** Of these and of `banners`, what cannot be used is a `failed` notice, and its default holds. */
  delivery?: DeliveryChoices | undefined;
  /** When banners are refreshed, and when an impression counts. */
  banners?: Choices<BannerOptions> | undefined;
  /** Prints each notice in the console, in words. Default false. */
  debug?: boolean | undefined;
  /** Parts of the browser to replace, in tests and unusual hosts. */
  platform?: Choices<Platform> | undefined;
}

/** What `createPlacard` takes. */
export type PlacardOptions = CommonOptions & EndpointOptions;

/** Every platform piece can be passed in; each has a browser default. */
export interface Platform {
  /** Default: the global `fetch`. */
  fetch: typeof fetch;
  /** Ordered records by key; one store for banners, one for the event log. Default IndexedDB, memory where it fails. */
  openStore: (name: string) => Store;
  /** Unix milliseconds. */
  now: () => number;
  /** Milliseconds that never jump. */
  monotonic: () => number;
  /** Runs `callback` once after `delayMs`; returns a function that cancels it. */
  after: (delayMs: number, callback: () => void) => () => void;
  /** 0 ≤ x < 1. */
  random: () => number;
  /** Whether the page is visible, and what happens to it. */
  lifecycle: PageLifecycle;
  /** The channel to the other tabs. Default `BroadcastChannel`; without one the store alone carries the news. */
  openChannel: (name: string) => TabLink;
  /** For the viewability rule; happy-dom's, for one, never calls back. */
  IntersectionObserver: typeof IntersectionObserver;
}

type ApiOptions = EndpointOptions & Pick<PlacardOptions, 'apiKey' | 'appId'>;

/** The options with the defaults that the first paint needs; what the parts of the client read. */
export interface Settings extends Omit<PlacardOptions, 'instance' | 'endpoint' | 'platform' | 'use'> {
  use: Addition;
  /** Base URL without a slash at the end. */
  endpoint: string;
  logName: string;
  consent: 'enabled' | 'disabled' | 'pending';
  platform: Choices<Platform> & Pick<Platform, 'openStore' | 'now' | 'monotonic' | 'after' | 'random'>;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** An option that is missing or wrong is a mistake in the code, not in the data. */
const expect = (isRight: boolean, option: string, expected: string): void => {
  if (!isRight) throw new TypeError(`Option "${option}" must be ${expected}`);
};

/**
 * The database of the events of one app at one API, and the channel between its tabs: two apps on one origin (a shop and its
 * staging, a portal's widgets) never see, send or wipe each other's events.
 */
export const logName = (endpoint: string, appId: string): string => `placard-outbox-${appId}@${endpoint}`;

/** The options that a page and its service worker share; the endpoint as a base URL without a slash at the end. */
export const readApiOptions = ({ instance, endpoint, apiKey, appId }: ApiOptions) => {
  const isKnown = instance === undefined || Object.hasOwn(INSTANCES, instance);
  expect(isKnown, 'instance', 'a known instance, or use "endpoint"');
  const url = instance === undefined ? endpoint : INSTANCES[instance];
  const isUrl = isText(url) && /^https?:\/\//.test(url) && parseUrl(url) !== undefined;
  expect(isUrl, 'endpoint', 'an http or https URL, or use "instance"');
  expect(isText(apiKey) || typeof apiKey === 'function', 'apiKey', 'a non-empty string');
  expect(isText(appId), 'appId', 'a non-empty string');
  const base = url.replace(/\/+$/, '');
  return { endpoint: base, apiKey, appId, logName: logName(base, appId) };
};

/** Fills in the defaults. Throws a `TypeError` that names the first wrong option. */
export const readOptions = (options: PlacardOptions): Settings => {
  if (Object(options) !== options) throw new TypeError('createPlacard() needs options');
  const { appVersion, userId, consent = 'enabled', platform } = options;
  const api = readApiOptions(options);
  const isShort = isText(appVersion) && [...appVersion].length <= MAX_APP_VERSION_CHARACTERS;
  expect(isShort, 'appVersion', `a string of 1 to ${MAX_APP_VERSION_CHARACTERS} characters`);
  expect(userId === null || typeof userId === 'string', 'userId', 'a string, or null');
  const { instance: _named, use = [], ...others } = options;
  const additions: unknown[] = [use].flat();
  // A missed call, `[visitors]`, would have no effect.
  expect(
    additions.every((each) => typeof each === 'object'),
    'use',
    '[visitors()] or the like',
  );
  return {
    ...others,
    ...api,
    use: Object.assign({}, ...additions),
    // What browsers that know the signal say; TypeScript's library does not have it yet.
    consent:
      consent === 'gpc'
        ? (globalThis.navigator as { globalPrivacyControl?: boolean } | undefined)?.globalPrivacyControl
          ? 'disabled'
          : 'enabled'
        : consent,
    platform: {
      ...platform,
      openStore: platform?.openStore ?? createIdbStore,
      random: platform?.random ?? Math.random,
      ...createClock(platform),
    },
  };
};
