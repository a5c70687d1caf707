import type { Addition } from './addition.ts';
import type { PlacementHook } from './placement-hook.ts';

/**
 * While nobody is signed in, works for the visitor of this browser profile: a random ID that the client makes once and
 * keeps, with consent, in localStorage. A sign-in links the two, also in the service if there is a `userToken`.
 */
export const visitors = (): Addition => ({ visitors: () => import('./user/visitors.ts') });

/**
 * Inserts the placements of the workspace that have a selector, rendered by these templates, by their names: `{ card, hero }`. The list
 * comes from Placard's service; other servers have none.
 */
export const selectors = (hooks: Readonly<Record<string, PlacementHook>>): Addition => ({
  selectors: { hooks, load: () => import('./placements/insert-placements.ts') },
});
