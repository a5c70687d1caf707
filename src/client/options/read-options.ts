import { INSTANCES, type Instance, MAX_APP_VERSION_CHARACTERS, parseUrl } from '../../protocol/index.ts';
import { createClock } from '../platform/clock.ts';
import { createIdbStore } from '../platform/idb-store.ts';
import type { PlacardOptions, Platform } from './options.ts';

/** `instance` names a hosted instance, `endpoint` is the base URL of any other. */
export type EndpointOptions =
  | { instance: Instance; endpoint?: never }
  | { endpoint: string; instance?: never };

type ApiOptions = EndpointOptions & Pick<PlacardOptions, 'apiKey' | 'appId'>;

/** The options with the defaults that the first paint needs; what the parts of the client read. */
export interface Settings extends Omit<PlacardOptions, 'instance' | 'endpoint' | 'platform'> {
  /** Base URL without a slash at the end. */
  endpoint: string;
  logName: string;
  consent: 'enabled' | 'disabled' | 'pending';
  platform: Partial<Platform> & Pick<Platform, 'openStore' | 'now' | 'monotonic' | 'after' | 'random'>;
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
  if (Object(options) !== options) throw new TypeError('createPlacard() needs its options, an object');
  const { appVersion, userId, consent = 'enabled', platform } = options;
  const api = readApiOptions(options);
  const isShort = isText(appVersion) && [...appVersion].length <= MAX_APP_VERSION_CHARACTERS;
  expect(isShort, 'appVersion', `a string of 1 to ${MAX_APP_VERSION_CHARACTERS} characters`);
  expect(userId === null || typeof userId === 'string', 'userId', 'a string, or null');
  const { instance: _named, ...others } = options;
  return {
    ...others,
    ...api,
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
