import ky from 'ky';
import { TRACK_PATH } from '../../protocol/index.ts';

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
 * The `banners/track` call. Who retries, and who ends it by `signal` when it takes too long: the outbox, never ky. A
 * redirect is an error, since it would carry the key to wherever it points. Rejects when no answer could be read.
 */
export const createPostTrack =
  ({ endpoint, fetch }: { endpoint: string; fetch: typeof globalThis.fetch }): PostTrack =>
  async ({ body, key, keepalive, signal }) => {
    const answer = ky.post(endpoint.replace(/\/$/, '') + TRACK_PATH, {
      body,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      fetch: (input, init) => fetch(input, init),
      keepalive,
      redirect: 'error',
      retry: 0,
      signal,
      throwHttpErrors: false,
      timeout: false,
    });
    const { status, headers } = await answer;
    return { status, headers, text: await answer.text() };
  };
