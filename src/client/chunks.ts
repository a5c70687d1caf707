import type { ImportAgain } from './late-chunk.ts';

/**
 * The chunks that the late one loads, and when. `create-placard.ts` loads that one: once the cached banners are on the page, after
 * 250 ms, or with the first event. The rest is in the late chunk, or in the first, which a cached banner needs to be painted.
 * `test/package/chunks.test.ts` compares this with what is built.
 */
const CHUNKS = {
  /**
   * A response other than 202 with all events accepted, a failed sync, a damaged or old record, a full or failing disk, a dead letter, or
   * diagnostics. Also `mayShow`, a service worker, or an expired banner. If it cannot be loaded, the log is left as it is: a claim ends
   * by itself.
   */
  trouble: () => import('./trouble.ts'),
  /** `inspect()` was called, or the page was opened by a preview link. */
  inspector: () => import('./inspector/inspector.ts'),
  /** With the option `debug`, a key of a server, or an unknown consent. */
  debug: () => import('./debug.ts'),
};

type Chunks = typeof CHUNKS;
export type LoadChunk = <Name extends keyof Chunks>(name: Name) => ReturnType<Chunks[Name]>;

/** `importAgain` is the first chunk's own: what both import esbuild makes a file of, which the first paint would wait for. */
export const createLoadChunk = (importAgain: ImportAgain): LoadChunk =>
  ((name: keyof Chunks) => importAgain<unknown>(CHUNKS[name])) as LoadChunk;
