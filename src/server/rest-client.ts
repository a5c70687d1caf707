import { INSTANCES, type Instance, type Integration, isInstance } from '../protocol/index.ts';
import { createCall } from './call.ts';
import { listIntegrations } from './integrations.ts';
import { createProfileCalls, type ProfileCalls } from './profiles.ts';
import { LONGEST_TIMER_MS, sleep as realSleep, type Sleep } from './sleep.ts';
import { type Many, type TrackInput, type TrackObject, type TrackOptions, trackAll } from './track.ts';
import type { TrackReport } from './track-report.ts';

interface CommonOptions {
  /** A server-side key, or a function that gives the current one before each request. */
  apiKey: string | (() => string | Promise<string>);
  fetch?: typeof fetch;
  /** How often a request is sent at most. Default 6. */
  maxAttempts?: number;
  /** Longest wait for an answer, in whole milliseconds. Default 30,000. */
  timeoutMs?: number;
  /** Unix milliseconds. */
  now?: () => number;
  /** 0 ≤ x < 1; spreads retries. */
  random?: () => number;
  sleep?: Sleep;
}

/** `instance` names a hosted instance, `endpoint` is the base URL of any other. */
export type RestClientOptions = CommonOptions &
  ({ instance: Instance; endpoint?: never } | { endpoint: string; instance?: never });

/** The API for backends. Requests are paced by the rate-limit headers and retried where that cannot do harm. */
export interface RestClient extends ProfileCalls {
  /** All data-ingestion integrations, page after page. Throws `ApiError`: 404 where ingestion is not set up. */
  integrations(more?: { signal?: AbortSignal }): AsyncGenerator<Integration, void, undefined>;
  /**
   * Sends any number of attributes, events and purchases, by array or as one mixed stream. Resolves with what the service said
   * of them, at the caller's own indexes; throws `TrackStoppedError` where it could not go on.
   */
  track(input: TrackInput | Many<TrackObject>, more?: TrackOptions): Promise<TrackReport>;
}

const endpointOf = ({ instance, endpoint }: RestClientOptions): string => {
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

/** Makes a client of the REST API. Throws a `TypeError` where an option cannot be used. */
export const createRestClient = (options: RestClientOptions): RestClient => {
  const endpoint = endpointOf(options);
  const { maxAttempts = 6, timeoutMs = 30_000 } = options;
  if (!options.apiKey) throw new TypeError('apiKey is empty');
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > LONGEST_TIMER_MS)
    throw new TypeError(`timeoutMs: ${timeoutMs} is not a whole number from 1 to ${LONGEST_TIMER_MS}`);
  if (typeof maxAttempts !== 'number' || !(maxAttempts >= 1))
    throw new TypeError(`maxAttempts: ${maxAttempts} is not a number from 1 up`);
  const call = createCall({
    endpoint,
    apiKey: options.apiKey,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    maxAttempts,
    timeoutMs,
    now: options.now ?? (() => Date.now()),
    random: options.random ?? (() => Math.random()),
    sleep: options.sleep ?? realSleep,
  });
  return {
    integrations: ({ signal } = {}) => listIntegrations(call, endpoint, signal),
    track: (input, more) => trackAll(call, input, more),
    ...createProfileCalls(call),
  };
};
