// A separate entry beside `client/index.ts`: esbuild puts code that both that entry and the deferred chunk use into a file that
// every page would load before the first paint.
export { createPageLifecycle } from './page-lifecycle.ts';
