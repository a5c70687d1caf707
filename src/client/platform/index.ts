// A door beside `client/index.ts`: what that one exports and the late chunk needs as well, esbuild puts into a file that
// every page would load before the first paint.
export { createPageLifecycle } from './page-lifecycle.ts';
