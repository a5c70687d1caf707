import { INSTANCES, type Instance, isInstance } from '../protocol/index.ts';
import { MAX_TIMER_MS } from './pace.ts';

/** Throws a `TypeError` for a time limit that no timer keeps. */
export const checkTimeLimit = (timeoutMs: number): void => {
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > MAX_TIMER_MS)
    throw new TypeError(`timeoutMs: ${timeoutMs} is not a whole number from 1 to ${MAX_TIMER_MS}`);
};

/** `instance` names a hosted instance, `endpoint` is the base URL of any other. */
export type ApiAddress = { instance: Instance; endpoint?: never } | { endpoint: string; instance?: never };

/** The base URL, without a slash at its end. Throws a `TypeError` where it cannot be used. */
export const endpointOf = ({ instance, endpoint }: ApiAddress): string => {
  if (instance !== undefined) {
    if (isInstance(instance)) return INSTANCES[instance];
    throw new TypeError(`instance: '${instance}' is not one of ${Object.keys(INSTANCES).join(', ')}`);
  }
  if (endpoint === undefined) throw new TypeError('Either instance or endpoint is needed');
  if (!URL.canParse(endpoint) || !/^https?:/i.test(endpoint)) {
    // What may be a password is not quoted, here and below.
    throw new TypeError(`endpoint: '${endpoint.replace(/^.*@/s, '…@')}' is not an http(s) URL`);
  }
  const { username, password } = new URL(endpoint);
  if (username || password)
    throw new TypeError('endpoint holds a user name or password, which fetch refuses');
  if (/[?#]/.test(endpoint))
    throw new TypeError('endpoint holds a query or fragment, where a path is to follow');
  return endpoint.replace(/\/+$/, '');
};
