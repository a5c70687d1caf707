import type { RetryImport } from './deferred-chunk.ts';

/**
 * Returns the URL of the module that failed to load, if the error message contains it. Ignores the script URLs in webpack's
 * messages.
 */
export const findUrl = (message: string): string | undefined => /https?:\S+[^)]$/.exec(message)?.[0];

// Chromium 153 and older engines cache a failed module load, and fail at once the next time (whatwg/html#6768). A query makes the
// URL different.
export const retryImport: RetryImport = (load) =>
  load().catch((cause) => {
    const url = findUrl(cause.message);
    if (!url) throw cause;
    return import(/* webpackIgnore: true */ `${url}?${Date.now()}`).catch(() => {
      throw cause;
    });
  });
