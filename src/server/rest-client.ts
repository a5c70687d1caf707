import { EXPLAIN_PATH, type ExplainAnswer, type ExplainRequest } from '../protocol/index.ts';
import { createCall } from './call.ts';
import { createIntegrationCalls, type IntegrationCalls } from './integrations.ts';
import { type ApiAddress, checkTimeLimit, endpointOf } from './options.ts';
import { sleep as realSleep, type Sleep } from './pace.ts';
import { createProfileCalls, type ProfileCalls } from './profiles.ts';
import { type TrackOptions, trackAll } from './track.ts';
import type { Many, TrackInput, TrackObject } from './track-input.ts';
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
  /** Receives why a request is sent again, and the wait before that in milliseconds. Default: nothing. */
  onRetry?: (error: Error, waitMs: number) => void;
}

/** Where the API is, the key, and how patiently to ask. */
export type RestClientOptions = CommonOptions & ApiAddress;

/** The API for backends. Requests are paced by the rate-limit headers and retried where that cannot do harm. */
export interface RestClient extends ProfileCalls, IntegrationCalls {
  /**
   * Sends any number of attributes, events and purchases, by array or as one mixed stream. Resolves with what the service said
   * of them, at the caller's own indexes; throws `TrackStoppedError` where it could not go on.
   */
  track(input: TrackInput | Many<TrackObject>, more?: TrackOptions): Promise<TrackReport>;
  /** Explains which banners a user gets. Needs a key with `campaigns.explain`; only Placard's service answers it. */
  explain(input: ExplainRequest, signal?: AbortSignal): Promise<ExplainAnswer>;
}

/** Makes a client of the REST API. Throws a `TypeError` where an option cannot be used. */
export const createRestClient = (options: RestClientOptions): RestClient => {
  const endpoint = endpointOf(options);
  const { maxAttempts = 6, timeoutMs = 30_000 } = options;
  if (!options.apiKey) throw new TypeError('apiKey is empty');
  checkTimeLimit(timeoutMs);
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
    onRetry: options.onRetry ?? (() => undefined),
  });
  return {
    ...createIntegrationCalls(call, endpoint),
    track: (input, more) => trackAll(call, input, more),
    async explain(input, signal) {
      const body = JSON.stringify(input);
      const answer = await call({
        method: 'POST',
        path: EXPLAIN_PATH,
        body,
        resetKind: 'epoch',
        repeatable: true,
        signal,
      });
      return answer.body as ExplainAnswer;
    },
    ...createProfileCalls(call),
  };
};
