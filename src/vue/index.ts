export { useBanner, usePlacement } from './hooks.ts';
export { Placement } from './placement.ts';
export { providePlacard, usePlacard } from './provided.ts';
