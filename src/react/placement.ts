import { createElement, type HTMLAttributes, type ReactElement, type ReactNode, useState } from 'react';
import { bootstrapped, type DrawnBanner, renderedHook } from '../bindings/index.ts';
import type { Banner, PlacementHook, Slot } from '../client/index.ts';
import { useEffectBeforePaint } from './before-paint.ts';
import { Content } from './content.ts';
import { useBootstrap, usePlacard } from './context.ts';
import { usePlacement } from './use-placement.ts';

/**
 * A banner as React draws it: `slot` logs clicks, dismisses and checks URLs. Where it suspends or throws, the slot stays
 * empty, until it does not suspend any more or until there is another banner; what it throws is a `failed` notice.
 */
export type RenderBanner = (banner: Banner, slot: Slot) => ReactNode;

/** What `Placement` takes: a placement, and a hook or `render`. All other props go to its element. */
export type PlacementProps = Omit<HTMLAttributes<HTMLElement>, 'children'> & {
  /** The placement. */
  placementId: string;
  /** The element around the banner; give it the box of the banner in your styles. Default `div`. */
  as?: 'div' | 'section' | 'aside' | 'li';
} & ({ hook: PlacementHook; render?: never } | { hook?: never; render: RenderBanner });

/** The drawn banner, in state: the hook puts it there and takes it away. */
const useDrawn = (placementId: string) => {
  const placard = usePlacard();
  const bootstrap = useBootstrap();
  const [first] = useState(() => bootstrapped(bootstrap, placementId));
  const [drawn, setDrawn] = useState<DrawnBanner | null>(first);
  const [hook] = useState(() => renderedHook(setDrawn));
  useEffectBeforePaint(() => {
    // The client draws it anew with a slot of its own, or knows better.
    if (first && placard && !placard.banner(placementId)) setDrawn((now) => (now === first ? null : now));
  }, [first, placard, placementId]);
  return { drawn, hook };
};

/**
 * `createElement(Placement, { placementId: 'home_hero', hook: hero })`, or with `render` in place of `hook`, a function that
 * draws the banner in React.
 */
export const Placement = ({
  placementId,
  hook,
  as = 'div',
  render,
  ...attributes
}: PlacementProps): ReactElement => {
  const own = useDrawn(placementId);
  const ref = usePlacement(placementId, hook ?? own.hook);
  const content = render ? createElement(Content, { drawn: own.drawn, render }) : null;
  return createElement(as, { ...attributes, ref }, content);
};
