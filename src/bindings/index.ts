export { bootstrapped, watchBootstrapped } from './bootstrapped.ts';
export { type DrawnBanner, followHook, renderedHook } from './placement-hook.ts';
export { watchBanner } from './watch-banner.ts';
