import { INSTANCES, type Instance, parseInstance } from '../protocol/index.ts';
import { MAX_TIMER_MS } from './rate-limiter.ts';

export const checkTimeLimit = (timeoutMs: number): void => {
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > MAX_TIMER_MS)
    throw new TypeError(`timeoutMs: expected a whole number from 1 to ${MAX_TIMER_MS}, got ${timeoutMs}`);
};

/** Name of a hosted instance, or base URL of any other service. */
export type ApiAddress =
  | { instance: Instance; endpoint?: undefined }
  | { endpoint: string; instance?: undefined };

/** Returns the base URL without a trailing slash. Throws `TypeError` if it is invalid. */
export const parseEndpoint = ({ instance, endpoint }: ApiAddress): string => {
  if (instance !== undefined) return INSTANCES[parseInstance(instance)];
  if (endpoint === undefined) throw new TypeError('instance or endpoint is required');
  if (!URL.canParse(endpoint) || !/^https?:/i.test(endpoint)) {
    // Error messages never quote a password, here and below.
    throw new TypeError(`endpoint: '${endpoint.replace(/^.*@/s, '…@')}' is not an http(s) URL`);
  }
  const { username, password } = new URL(endpoint);
  if (username || password) throw new TypeError('endpoint: user name and password are not allowed');
  if (/[?#]/.test(endpoint)) throw new TypeError('endpoint: query and fragment are not allowed');
  return endpoint.replace(/\/+$/, '');
};
