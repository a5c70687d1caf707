import { INSTANCES, type Instance, MAX_APP_VERSION_CHARACTERS, parseUrl } from '../../protocol/index.ts';
import { configError } from '../errors.ts';
import type { PlacardOptions, Platform } from '../options.ts';
import { createClock } from '../platform/clock.ts';
import { createIdbStore } from '../platform/idb-store.ts';

/** `instance` names a hosted instance, `endpoint` is the base URL of any other. */
export type EndpointOptions =
  | { instance: Instance; endpoint?: never }
  | { endpoint: string; instance?: never };

/** The options with the defaults that the first paint needs; what the parts of the client read. */
export interface Settings extends Omit<PlacardOptions, 'instance' | 'endpoint' | 'platform'> {
  /** Base URL without a slash at the end. */
  endpoint: string;
  consent: 'enabled' | 'disabled' | 'pending';
  platform: Partial<Platform> & Pick<Platform, 'openStore' | 'now' | 'monotonic' | 'after' | 'random'>;
}

export const readText = (option: string, value: unknown): string => {
  if (typeof value !== 'string' || !value) throw configError(option, 'a non-empty string');
  return value;
};

export const readKey = <T>(apiKey: T): T => {
  if (typeof apiKey !== 'function') readText('apiKey', apiKey);
  return apiKey;
};

/** The base URL, without a slash at the end. */
export const readEndpoint = ({ instance, endpoint }: EndpointOptions): string => {
  if (instance !== undefined) {
    if (!Object.hasOwn(INSTANCES, instance))
      throw configError('instance', 'a known instance, or use "endpoint"');
    return INSTANCES[instance];
  }
  if (typeof endpoint !== 'string' || !/^https?:\/\//.test(endpoint) || !parseUrl(endpoint)) {
    throw configError('endpoint', 'an http or https URL, or use "instance"');
  }
  return endpoint.replace(/\/+$/, '');
};

/** Fills in the defaults. Throws a `TypeError` that names the first wrong option. */
export const readOptions = (options: PlacardOptions): Settings => {
  const { appVersion, userId, consent = 'enabled', platform } = options;
  const endpoint = readEndpoint(options);
  readKey(options.apiKey);
  readText('appId', options.appId);
  readText('appVersion', appVersion);
  if ([...appVersion].length > MAX_APP_VERSION_CHARACTERS) {
    throw configError('appVersion', `at most ${MAX_APP_VERSION_CHARACTERS} characters`);
  }
  if (userId !== null && typeof userId !== 'string') throw configError('userId', 'a string, or null');
  return {
    ...options,
    endpoint,
    consent,
    platform: {
      ...platform,
      openStore: platform?.openStore ?? createIdbStore,
      random: platform?.random ?? Math.random,
      ...createClock(platform),
    },
  };
};
