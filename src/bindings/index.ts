/** What the bindings to frameworks share; each of them adds its own components. */
export { bootstrapped } from './bootstrapped.ts';
export { followHook } from './follow-hook.ts';
export { type DrawnBanner, renderedHook } from './rendered-hook.ts';
export { watchBanner } from './watch-banner.ts';
