import type { PlacementHook } from '../../src/client/index.ts';
import { card, choice, countdown, hero, strip } from '../../src/templates/index.ts';

/** Which template draws which placement; the Studio's frames use the same table. */
export const HOOKS: Readonly<Record<string, PlacementHook>> = {
  home_hero: hero,
  sidebar_promo: card,
  checkout_strip: strip,
  product_countdown: countdown,
  thanks_choice: choice,
};
