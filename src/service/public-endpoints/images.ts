import { type HandlerResult, HttpError } from '../http/http-request.ts';
import type { PictureFile } from '../operators/index.ts';
import type { Store } from '../store/store.ts';

/** Where pages find a picture: the SHA-256 of its bytes, and its type as the ending. */
export const PICTURES_PATH = '/pictures';
const FILE = /^([\da-f]{64})\.([a-z]+)$/;

/** The memory holds so many pictures, each of 1 MB at most, and each for so long: one that is deleted is gone in a minute. */
const MAX_KEPT = 32;
const KEPT_MS = 60_000;

/** What an address names never changes. A browser that opens it by itself gets no page of ours, whatever the bytes say that they are. */
const HEADERS = {
  'Cache-Control': 'public, max-age=31536000, immutable',
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

/**
 * Answers pictures to pages of any origin. The latest 32 of the last minute are in memory: a banner that many see at once costs the
 * database one read, and all who wait for its bytes share them. Requests for pictures that are not there move none out.
 */
export const createImages = (store: Pick<Store, 'picture'>, now: () => number) => {
  const kept = new Map<string, { sinceMs: number; picture: PictureFile }>();
  const pending = new Map<string, Promise<PictureFile | null>>();

  const readStore = async (hash: string): Promise<PictureFile | null> => {
    const sinceMs = now();
    const picture = await store.picture(hash);
    kept.delete(hash);
    if (picture) kept.set(hash, { sinceMs, picture });
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    return picture;
  };

  const read = async (hash: string): Promise<PictureFile | null> => {
    const known = kept.get(hash);
    if (known && now() - known.sinceMs < KEPT_MS) return known.picture;
    const reading = pending.get(hash) ?? readStore(hash).finally(() => pending.delete(hash));
    pending.set(hash, reading);
    return reading;
  };

  return async (file: string): Promise<HandlerResult> => {
    const [, hash, ending] = FILE.exec(file) ?? [];
    const picture = hash === undefined ? null : await read(hash);
    if (!picture || picture.type !== ending) throw new HttpError(404, 'There is no such picture');
    return {
      status: 200,
      headers: { ...HEADERS, 'Content-Type': `image/${picture.type}` },
      shared: picture.bytes,
    };
  };
};
