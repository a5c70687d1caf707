import { createElement, type HTMLAttributes, type ReactNode, useCallback, useState } from 'react';
import type { Banner, PlacementHook, Slot } from '../client/index.ts';
import { usePlacement } from './use-placement.ts';

/** A banner as React draws it: `slot` logs clicks, dismisses and checks URLs. */
export type RenderBanner = (banner: Banner, slot: Slot) => ReactNode;

export type PlacementProps = Omit<HTMLAttributes<HTMLElement>, 'children'> & {
  /** The placement. */
  placementId: string;
  /** The element around the banner; give it the box of the banner in your styles. Default `div`. */
  as?: 'div' | 'section' | 'aside' | 'li';
} & ({ hook: PlacementHook; render?: never } | { hook?: never; render: RenderBanner });

/** The drawn banner, in state: the hook puts it there and takes it away. */
const useDrawn = () => {
  const [drawn, setDrawn] = useState<{ banner: Banner; slot: Slot } | null>(null);
  const hook = useCallback<PlacementHook>((banner, slot) => {
    setDrawn({ banner, slot });
    return () => setDrawn(null);
  }, []);
  return { drawn, hook };
};

/**
 * `createElement(Placement, { placementId: 'home_hero', hook: hero })`, or with `render` in place of `hook`, a function that
 * draws the banner in React.
 */
export const Placement = ({ placementId, hook, as = 'div', render, ...attributes }: PlacementProps) => {
  const own = useDrawn();
  const ref = usePlacement(placementId, hook ?? own.hook);
  const content = own.drawn && render ? render(own.drawn.banner, own.drawn.slot) : null;
  return createElement(as, { ...attributes, ref }, content);
};
