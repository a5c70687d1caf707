import type { Addition } from './addition.ts';
import type { PlacementHook } from './placement-hook.ts';
import type { ProvideToken } from './user/token-source.ts';

/**
 * Adds support for anonymous visitors: while no user is signed in, the client works for a random visitor ID of this browser
 * profile. The ID is created once and kept in localStorage, with consent. On sign-in, banners dismissed by the visitor stay
 * hidden for the user; with `userTokens()`, the service merges the two profiles.
 */
export const visitors = (): Addition => ({ visitors: () => import('./user/visitors.ts') });

/**
 * Sends a signed token with the requests of each user. `provide` returns a token of the given user from your backend, or `null`. The
 * client calls it when a request needs a token, before the token expires, and after the service rejected it. Without a token, nothing
 * of the user is sent.
 */
export const userTokens = (provide: ProvideToken): Addition => ({
  userTokens: { provide, loadSource: () => import('./user/token-source.ts') },
});

/**
 * Inserts the placements of the workspace that have a selector. `hooks` are the templates that render them, by name: `{ card,
 * hero }`. The list comes from Placard's service; other servers do not have one.
 */
export const selectors = (hooks: Readonly<Record<string, PlacementHook>>): Addition => ({
  selectors: { hooks, load: () => import('./placements/insert-placements.ts') },
});

/**
 * Checks for changed campaigns every few seconds while the page is visible, if the workspace sets `banner_poll_seconds`. Banners
 * of stopped campaigns are removed even in view; other changes wait until the slot is out of view. Uses no refresh budget. Needs
 * Placard's service.
 */
export const liveUpdates = (): Addition => ({
  liveUpdates: { load: () => import('./banners/live-updates.ts') },
});
