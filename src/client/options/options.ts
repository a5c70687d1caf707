import {
  type BannerBootstrap,
  INSTANCES,
  MAX_APP_VERSION_CHARACTERS,
  parseUrl,
} from '../../protocol/index.ts';
import type { Addition } from '../addition.ts';
import type { Banner } from '../banner.ts';
import type { OnEventRejected } from '../delivery/delivery.ts';
import type { SlotContext } from '../placement-hook.ts';
import { createClock } from '../platform/clock.ts';
import { createIdbStore } from '../platform/idb-store.ts';
import type { BroadcastChannelLike, PageLifecycle } from '../platform/page.ts';
import type { Store } from '../platform/store.ts';
import type { BannerOptions, Choices, CONSENT, DeliveryChoices, EndpointOptions } from './option-schema.ts';

interface CommonOptions {
  /**
   * Client key, or a function that returns the current one. The function is called again after a 401 or 403, and has 10 seconds
   * to resolve.
   */
  apiKey: string | (() => string | Promise<string>);
  /** ID of the app in the workspace. */
  appId: string;
  /** Version of the app, at most 255 characters. */
  appVersion: string;
  /** ID of the signed-in user; `null` if none. Without a user nothing is synced or tracked, unless the page uses `visitors()`. */
  userId: string | null;
  /** Optional features that the page imports: `[visitors(), userTokens(fn)]`. Default: none. */
  use?: readonly Addition[] | undefined;
  /**
   * Result of `fetchBanners` of `placard/server` for this user. Its banners are shown at once, unless the cache has newer ones.
   * Default: none.
   */
  bootstrap?: BannerBootstrap | null | undefined;
  /** Device ID to send with each sync. Default: none. */
  deviceId?: string | undefined;
  /**
   * Initial consent. `'disabled'`, and any unknown value: nothing is stored, synced or sent until `enable()`. `'pending'`:
   * banners are shown, and events are kept in memory until `enable()` stores them or `disable()` discards them. `'gpc'`:
   * `'disabled'` if the browser sends Global Privacy Control, otherwise `'enabled'`. Default `'enabled'`.
   */
  consent?: 'enabled' | 'disabled' | 'pending' | 'gpc' | undefined;
  /**
   * Called once per banner and slot before the banner is shown. Return (or resolve to) `false` to block it, for example while a
   * consent dialog is open; a blocked control banner is not counted. Called again by `reevaluate()` and `refresh()`. If it
   * throws, the slot stays empty, with a `failed` notice. Default: every banner is shown.
   */
  shouldShow?:
    | ((banner: Banner, slot: Pick<SlotContext, 'element' | 'placementId'>) => boolean | Promise<boolean>)
    | undefined;
  /** Handles events that the server rejected. Default: they are sent again unchanged, up to `maxAttempts` times. */
  onEventRejected?: OnEventRejected | undefined;
  /** Options for event storage and delivery. An invalid one keeps its default, with a `failed` notice. */
  delivery?: DeliveryChoices | undefined;
  /** Options for banner refreshes, sessions and impressions. An invalid one keeps its default, with a `failed` notice. */
  banners?: Choices<BannerOptions> | undefined;
  /** Logs each notice to the console. Default `false`. */
  debug?: boolean | undefined;
  /** Replacements for browser APIs, for tests and unusual hosts. */
  platform?: Choices<Platform> | undefined;
}

/** Options of `createPlacard`. */
export type PlacardOptions = CommonOptions & EndpointOptions;

/** Browser APIs that the client uses. Each can be replaced. */
export interface Platform {
  /** Default: the global `fetch`. */
  fetch: typeof fetch;
  /** Opens a store by name; one is for banners, one for the event log. Default: IndexedDB, or memory if it fails. */
  openStore: (name: string) => Store;
  /** Returns the current time in Unix milliseconds. Default: `Date.now()`. */
  now: () => number;
  /** Returns monotonic milliseconds. Default: `performance.now()`. */
  monotonic: () => number;
  /** Runs `callback` once after `delayMs`. Returns a function that cancels it. Default: `setTimeout`. */
  after: (delayMs: number, callback: () => void) => () => void;
  /** Returns a number from 0 (included) to 1 (excluded). Default: `Math.random`. */
  random: () => number;
  /** Visibility and lifecycle events of the page. */
  lifecycle: PageLifecycle;
  /** Opens the channel to the other tabs. Default: `BroadcastChannel`. Without a channel, tabs see changes only in the store. */
  openChannel: (name: string) => BroadcastChannelLike;
  /** Observer for viewability. Replace it in tests if the DOM's own never calls back, as in happy-dom. */
  IntersectionObserver: typeof IntersectionObserver;
}

type ApiOptions = EndpointOptions & Pick<PlacardOptions, 'apiKey' | 'appId'>;

/** Options with the defaults that the first paint needs. */
export interface Settings extends Omit<PlacardOptions, 'instance' | 'endpoint' | 'platform' | 'use'> {
  use: Addition;
  /** Base URL without a trailing slash. */
  endpoint: string;
  logName: string;
  consent: (typeof CONSENT)[number];
  platform: Choices<Platform> & Pick<Platform, 'openStore' | 'now' | 'monotonic' | 'after' | 'random'>;
}

/** `globalPrivacyControl` is not yet in TypeScript's DOM library. */
interface PrivacyNavigator extends Partial<Navigator> {
  readonly globalPrivacyControl?: boolean;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Throws a `TypeError` if an option is missing or invalid. */
const expect = (isRight: boolean, option: string, expected: string): void => {
  if (!isRight) throw new TypeError(`Option "${option}" must be ${expected}`);
};

/**
 * Returns the name of an app's event database and tab channel at one API. Apps that share an origin (a shop and its staging,
 * widgets of a portal) never read, send or wipe each other's events.
 */
export const logName = (endpoint: string, appId: string): string => `placard-outbox-${appId}@${endpoint}`;

/** Reads the options that a page shares with its service worker. Returns the endpoint as a base URL without a trailing slash. */
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

/** Applies the defaults. Throws a `TypeError` that names the first invalid option. */
export const readOptions = (options: PlacardOptions): Settings => {
  if (Object(options) !== options) throw new TypeError('createPlacard() needs options');
  const { appVersion, userId, consent = 'enabled', platform } = options;
  const api = readApiOptions(options);
  const isShort = isText(appVersion) && [...appVersion].length <= MAX_APP_VERSION_CHARACTERS;
  expect(isShort, 'appVersion', `a string of 1 to ${MAX_APP_VERSION_CHARACTERS} characters`);
  expect(userId === null || typeof userId === 'string', 'userId', 'a string, or null');
  const { instance: _named, use = [], ...others } = options;
  const additions: unknown[] = [use].flat();
  // A function that was not called, `[visitors]`, would have no effect.
  expect(
    additions.every((each) => typeof each === 'object'),
    'use',
    'a list such as [visitors()]',
  );
  const navigator: PrivacyNavigator | undefined = globalThis.navigator;
  return {
    ...others,
    ...api,
    use: Object.assign({}, ...additions),
    consent: consent === 'gpc' ? (navigator?.globalPrivacyControl ? 'disabled' : 'enabled') : consent,
    platform: {
      ...platform,
      openStore: platform?.openStore ?? createIdbStore,
      random: platform?.random ?? Math.random,
      ...createClock(platform),
    },
  };
};
