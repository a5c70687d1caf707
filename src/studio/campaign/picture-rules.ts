/** How large an uploaded picture may be. */
export const MAX_PICTURE_BYTES = 1024 * 1024;

/** What it may be, in words, and as a file input takes it. */
export const PICTURE_KINDS = 'a PNG, JPEG, WebP, AVIF or GIF';
export const PICTURE_ACCEPT = 'image/png,image/jpeg,image/webp,image/avif,image/gif';

/** `84 KB`, `1.4 MB`: rounded up, so that what is too large never reads like what fits. */
export const sizeWords = (bytes: number): string =>
  bytes <= MAX_PICTURE_BYTES
    ? `${Math.ceil(bytes / 1024)} KB`
    : `${(Math.ceil((bytes / MAX_PICTURE_BYTES) * 10) / 10).toFixed(1)} MB`;
