export { PlacardProvider, usePlacard } from './context.ts';
export { Placement, type PlacementProps, type RenderBanner } from './placement.ts';
export { useBanner } from './use-banner.ts';
export { usePlacement } from './use-placement.ts';
