import type { ImportAgain } from './late-chunk.ts';

/**
 * The chunks that the late one loads, and when. `create-placard.ts` loads that one: once the cached banners are on the page, after
 * 250 ms, or with the first event. The rest is in the late chunk, or in the first, which a cached banner needs to be painted.
 * `test/package/chunks.test.ts` compares this with what is built.
 */
const CHUNKS = {
  /** With the option `visitors`, before the first session. */
  visitors: () => import('./user/visitors.ts'),
  /** `inspect()` was called, or the page was opened by a preview link. */
  inspector: () => import('./inspector/inspector.ts'),
  /** With the option `debug`. */
  debug: () => import('./debug.ts'),
};

type Chunks = typeof CHUNKS;
export type LoadChunk = <Name extends keyof Chunks>(name: Name) => ReturnType<Chunks[Name]>;

/** `importAgain` is the first chunk's own: what both import esbuild makes a file of, which the first paint would wait for. */
export const createLoadChunk = (importAgain: ImportAgain): LoadChunk =>
  ((name: keyof Chunks) => importAgain<unknown>(CHUNKS[name])) as LoadChunk;
