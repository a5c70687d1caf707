import { type HandlerResult, HttpError } from '../http/http-request.ts';
import type { ImageFile } from '../operators/index.ts';
import type { Store } from '../store/store.ts';

/** Where pages find an image: the SHA-256 of its bytes, and its type as the ending. */
export const IMAGES_PATH = '/images';
const FILE = /^([\da-f]{64})\.([a-z]+)$/;

/** The memory holds so many images, each of 1 MB at most, and each for so long: one that is deleted is gone in a minute. */
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
 * Answers images to pages of any origin. The latest 32 of the last minute are in memory: a banner that many see at once costs the
 * database one read, and all who wait for its bytes share them. Requests for images that are not there move none out.
 */
export const createImages = (store: Pick<Store, 'image'>, now: () => number) => {
  const kept = new Map<string, { sinceMs: number; image: ImageFile }>();
  const pending = new Map<string, Promise<ImageFile | null>>();

  const readStore = async (hash: string): Promise<ImageFile | null> => {
    const sinceMs = now();
    const image = await store.image(hash);
    kept.delete(hash);
    if (image) kept.set(hash, { sinceMs, image });
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    return image;
  };

  const read = async (hash: string): Promise<ImageFile | null> => {
    const known = kept.get(hash);
    if (known && now() - known.sinceMs < KEPT_MS) return known.image;
    const reading = pending.get(hash) ?? readStore(hash).finally(() => pending.delete(hash));
    pending.set(hash, reading);
    return reading;
  };

  return async (file: string): Promise<HandlerResult> => {
    const [, hash, ending] = FILE.exec(file) ?? [];
    const image = hash === undefined ? null : await read(hash);
    if (!image || image.type !== ending) throw new HttpError(404, 'There is no such image');
    return {
      status: 200,
      headers: { ...HEADERS, 'Content-Type': `image/${image.type}` },
      shared: image.bytes,
    };
  };
};
