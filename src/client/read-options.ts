import { INSTANCES, MAX_APP_VERSION_CHARACTERS, parseUrl } from '../protocol/index.ts';
import { configError } from './errors.ts';
import type { PlacardOptions, Platform } from './options.ts';
import { createClock } from './platform/clock.ts';

/** The options with the defaults that the first paint needs; what the parts of the client read. */
export interface Settings extends Omit<PlacardOptions, 'instance' | 'endpoint' | 'platform'> {
  /** Base URL without a slash at the end. */
  endpoint: string;
  platform: Partial<Platform> & Pick<Platform, 'now' | 'monotonic' | 'after' | 'random'>;
}

const text = (option: string, value: unknown): void => {
  if (typeof value !== 'string' || !value) throw configError(option, 'a non-empty string');
};

const baseUrl = ({ instance, endpoint }: PlacardOptions): string => {
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
  const { apiKey, appId, appVersion, userId, consent = 'enabled' } = options;
  const endpoint = baseUrl(options);
  if (typeof apiKey !== 'function') text('apiKey', apiKey);
  text('appId', appId);
  text('appVersion', appVersion);
  if ([...appVersion].length > MAX_APP_VERSION_CHARACTERS) {
    throw configError('appVersion', `at most ${MAX_APP_VERSION_CHARACTERS} characters`);
  }
  if (userId !== null && typeof userId !== 'string') throw configError('userId', 'a string, or null');
  return {
    ...options,
    endpoint,
    consent,
    platform: {
      ...options.platform,
      random: options.platform?.random ?? Math.random,
      ...createClock(options.platform),
    },
  };
};
