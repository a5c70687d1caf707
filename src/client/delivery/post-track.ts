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

/**
 * Makes the call and reads its answer. Who retries, and who ends it by `signal` when it takes too long: the outbox, never
 * ky. Rejects when no answer could be read.
 */
export const createPostTrack =
  ({ endpoint, fetch }: { endpoint: string; fetch: typeof globalThis.fetch }): PostTrack =>
  async ({ body, key, keepalive, signal }) => {
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
    const { status, headers } = await answer;
    return { status, headers, text: await answer.text() };
  };
