/** What the bindings to frameworks share; each of them adds its own components. */
export { bootstrapped, watchBootstrapped } from './bootstrapped.ts';
export { type DrawnBanner, followHook, renderedHook } from './placement-hook.ts';
export { watchBanner } from './watch-banner.ts';
