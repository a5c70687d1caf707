export { PlacardProvider, usePlacard } from './context.ts';
export { useBanner, usePlacement } from './hooks.ts';
export { Placement, type PlacementProps, type RenderBanner } from './placement.ts';
