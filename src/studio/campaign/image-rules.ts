import type { ImageType } from '../../service/index.ts';

/** Maximum size of an uploaded image. */
export const MAX_IMAGE_BYTES = 1024 * 1024;

/** Supported image types, with display names. */
const NAMES: Record<ImageType, string> = {
  png: 'PNG',
  jpeg: 'JPEG',
  webp: 'WebP',
  avif: 'AVIF',
  gif: 'GIF',
};

/** Supported types as text, and as the `accept` attribute of a file input. */
export const IMAGE_KINDS = Object.values(NAMES).join(', ');
export const IMAGE_ACCEPT = Object.keys(NAMES)
  .map((type) => `image/${type}`)
  .join();

/** Formats a size, such as `84 KB` or `1.4 MB`. Rounds up, so that a size over the limit never appears within it. */
export const formatBytes = (bytes: number): string =>
  bytes <= MAX_IMAGE_BYTES
    ? `${Math.ceil(bytes / 1024)} KB`
    : `${(Math.ceil((bytes / MAX_IMAGE_BYTES) * 10) / 10).toFixed(1)} MB`;
