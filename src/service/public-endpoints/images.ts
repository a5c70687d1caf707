import { type HandlerResult, HttpError } from '../http/http-request.ts';
import type { ImageFile } from '../operators/index.ts';
import type { Store } from '../store/store.ts';

/** Path of images. The name of an image is the SHA-256 of its bytes, with the type as the extension. */
export const IMAGES_PATH = '/images';
const FILE = /^([\da-f]{64})\.([a-z]+)$/;

/** Maximum cached images of at most 1 MB each. Entries expire, so a deleted image is gone within a minute. */
const MAX_KEPT = 32;
const KEPT_MS = 60_000;

/**
 * Response headers of an image. It is immutable, because the URL identifies the content. If opened directly, it cannot run
 * scripts in this origin.
 */
const HEADERS = {
  'Cache-Control': 'public, max-age=31536000, immutable',
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

/**
 * Serves images to pages of any origin. Caches the latest 32 images of the last minute. Concurrent requests share one database
 * read. Missing images do not evict cached ones.
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
