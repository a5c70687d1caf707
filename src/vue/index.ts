export { Placement } from './placement.ts';
export { providePlacard, usePlacard } from './provided.ts';
export { useBanner } from './use-banner.ts';
export { usePlacement } from './use-placement.ts';
