import type { ImageType } from '../../service/index.ts';

/** How large an uploaded image may be. */
export const MAX_IMAGE_BYTES = 1024 * 1024;

/** What it may be, as people write it. */
const NAMES: Record<ImageType, string> = {
  png: 'PNG',
  jpeg: 'JPEG',
  webp: 'WebP',
  avif: 'AVIF',
  gif: 'GIF',
};

/** The same in words, and as a file input takes it. */
export const IMAGE_KINDS = Object.values(NAMES).join(', ');
export const IMAGE_ACCEPT = Object.keys(NAMES)
  .map((type) => `image/${type}`)
  .join();

/** `84 KB`, `1.4 MB`: rounded up, so that what is too large never reads like what fits. */
export const formatBytes = (bytes: number): string =>
  bytes <= MAX_IMAGE_BYTES
    ? `${Math.ceil(bytes / 1024)} KB`
    : `${(Math.ceil((bytes / MAX_IMAGE_BYTES) * 10) / 10).toFixed(1)} MB`;
