import type { ImportAgain } from './late-chunk.ts';

/** The module that could not be loaded, if the message of the error names it: the addresses of webpack's messages are of scripts. */
export const addressIn = (message: string): string | undefined => /https?:\S+[^)]$/.exec(message)?.[0];

// Chromium 153 and older engines remember a module that could not be loaded, and fail at once the next time
// (whatwg/html#6768). A query makes another address of it.
export const importAgain: ImportAgain = (load) =>
  load().catch((cause) => {
    const address = addressIn(cause.message);
    if (!address) throw cause;
    return import(/* webpackIgnore: true */ `${address}?${Date.now()}`).catch(() => {
      throw cause;
    });
  });
