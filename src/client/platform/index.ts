// A separate entry beside `client/index.ts`, because esbuild puts code that both `client/index.ts` and the deferred chunk use
// into a file that every page would load before the first paint.
export { createPageLifecycle } from './page.ts';
export { compareKeys, createMemoryStore, type MemoryRecords } from './store.ts';
