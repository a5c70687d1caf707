import type { RetryImport } from './deferred-chunk.ts';

/**
 * Chunks that the deferred chunk loads. `create-placard.ts` loads the deferred chunk: once the cached banners are on the page,
 * after 250 ms, or with the first event. All other code is in the deferred chunk, or in the first one if a cached banner needs
 * it. `test/package/chunks.test.ts` compares this with the build.
 */
const CHUNKS = {
  /**
   * Loads on a response other than 202 with all events accepted, a failed sync, a damaged or old record, a full or failing disk,
   * a dead letter, `diagnostics()`, `shouldShow`, a service worker, or an expired banner. If it cannot be loaded, the log stays
   * unchanged, and a claim expires by itself.
   */
  trouble: () => import('./trouble-chunk.ts'),
  /** Loads on `inspect()`, or if the page was opened by a preview link. */
  inspector: () => import('./inspector/inspector.ts'),
  /** Loads if `debug` is set, the key is a server key, or the consent is unknown. */
  debug: () => import('./debug.ts'),
};

type Chunks = typeof CHUNKS;
export type LoadChunk = <Name extends keyof Chunks>(name: Name) => ReturnType<Chunks[Name]>;

/**
 * `retryImport` is passed in by the first chunk, because esbuild would create a separate file for code that both chunks import,
 * and the first paint would wait for it.
 */
export const createLoadChunk = (retryImport: RetryImport): LoadChunk =>
  ((name: keyof Chunks) => retryImport<unknown>(CHUNKS[name])) as LoadChunk;
