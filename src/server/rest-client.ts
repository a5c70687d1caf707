import { EXPLAIN_PATH, type ExplainRequest, type ExplainResult } from '../protocol/index.ts';
import { createCall } from './call.ts';
import { createIntegrationCalls, type IntegrationCalls } from './integrations.ts';
import { type ApiAddress, checkTimeLimit, parseEndpoint } from './options.ts';
import { createProfileCalls, type ProfileCalls } from './profiles.ts';
import { sleep as realSleep, type Sleep } from './rate-limiter.ts';
import { type TrackOptions, trackAll } from './track.ts';
import type { AnyIterable, TrackInput, TrackObject } from './track-input.ts';
import type { TrackReport } from './track-report.ts';

interface CommonOptions {
  /** Server key, or a function called before each request. */
  apiKey: string | (() => string | Promise<string>);
  fetch?: typeof fetch | undefined;
  /** Maximum number of attempts per request. Default 6. */
  maxAttempts?: number | undefined;
  /** Timeout of an attempt in whole milliseconds. Default 30,000. */
  timeoutMs?: number | undefined;
  /** Unix milliseconds. */
  now?: (() => number) | undefined;
  /** Returns a number from 0 (included) to 1 (excluded), to spread retries. */
  random?: (() => number) | undefined;
  sleep?: Sleep | undefined;
  /** Called before each retry with the error and the delay. */
  onRetry?: ((error: Error, waitMs: number) => void) | undefined;
}

/** Address and key of the API, and how to call it. */
export type RestClientOptions = CommonOptions & ApiAddress;

/** REST API for backends. Respects rate-limit headers, and retries requests if a retry cannot create duplicates. */
export interface RestClient extends ProfileCalls, IntegrationCalls {
  /**
   * Sends any number of attributes, events and purchases, as arrays or one mixed stream. Returns errors at the indexes of the input.
   * Throws `TrackStoppedError` if sending stopped early.
   */
  track(input: TrackInput | AnyIterable<TrackObject>, more?: TrackOptions): Promise<TrackReport>;
  /** Explains which banners a user gets. Requires a key with the permission `campaigns.explain`. Supported only by Placard. */
  explain(input: ExplainRequest, signal?: AbortSignal): Promise<ExplainResult>;
}

/** Creates a client of the REST API. Throws `TypeError` if an option is invalid. */
export const createRestClient = (options: RestClientOptions): RestClient => {
  const endpoint = parseEndpoint(options);
  const { maxAttempts = 6, timeoutMs = 30_000 } = options;
  if (!options.apiKey) throw new TypeError('apiKey: expected a key, got nothing');
  checkTimeLimit(timeoutMs);
  if (typeof maxAttempts !== 'number' || !(maxAttempts >= 1))
    throw new TypeError(`maxAttempts: expected a number from 1, got ${maxAttempts}`);
  const call = createCall({
    endpoint,
    apiKey: options.apiKey,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    maxAttempts,
    timeoutMs,
    now: options.now ?? (() => Date.now()),
    random: options.random ?? (() => Math.random()),
    sleep: options.sleep ?? realSleep,
    onRetry: options.onRetry ?? (() => undefined),
  });
  return {
    ...createIntegrationCalls(call, endpoint),
    track: (input, more) => trackAll(call, input, more),
    async explain(input, signal) {
      const body = JSON.stringify(input);
      const response = await call({
        method: 'POST',
        path: EXPLAIN_PATH,
        body,
        resetKind: 'epoch',
        idempotent: true,
        signal,
      });
      return response.body as ExplainResult;
    },
    ...createProfileCalls(call),
  };
};
