import ky from 'ky';
import { trackRequest } from './track-request.ts';

/** What came back, read to its end. */
export interface TrackAnswer {
  status: number;
  headers: Headers;
  text: string;
}

export type PostTrack = (request: {
  body: string;
  key: string;
  keepalive: boolean;
  signal: AbortSignal;
}) => Promise<TrackAnswer>;

/** Firefox 153: a keepalive request that was under way when its page went into the bfcache never settles, abort or not. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });

/**
 * Makes the call and reads its answer. Who retries, and who ends it by `signal` when it takes too long: the outbox, never
 * ky. Rejects when no answer could be read.
 */
export const createPostTrack =
  ({ endpoint, fetch }: { endpoint: string; fetch: typeof globalThis.fetch }): PostTrack =>
  ({ body, key, keepalive, signal }) => {
    const { url, init } = trackRequest(endpoint, key, body);
    const answer = ky(url, {
      ...init,
      fetch: (input, options) => fetch(input, options),
      keepalive,
      retry: 0,
      signal,
      throwHttpErrors: false,
      timeout: false,
    });
    const read = async (): Promise<TrackAnswer> => {
      const { status, headers } = await answer;
      return { status, headers, text: await answer.text() };
    };
    return Promise.race([read(), aborted(signal)]);
  };
