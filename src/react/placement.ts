import {
  Component,
  createElement,
  type HTMLAttributes,
  type ReactElement,
  type ReactNode,
  Suspense,
  useState,
} from 'react';
import { bootstrapped, type DrawnBanner, renderedHook, watchBootstrapped } from '../bindings/index.ts';
import type { Banner, PlacementHook, Slot } from '../client/index.ts';
import { useBootstrap, usePlacard } from './context.ts';
import { useEffectBeforePaint, usePlacement } from './hooks.ts';

interface ContentProps {
  /** `null` while nothing is drawn. */
  drawn: DrawnBanner | null;
  /** What the host draws in React. */
  render: (banner: Banner, slot: Slot) => ReactNode;
}

interface ContentState {
  drawn: DrawnBanner | null;
  /** The last one that was there: what its effects throw while React takes them away is its failure as well. */
  last: DrawnBanner | null;
  hasFailed: boolean;
}

/** Stands in for content that is still loading: while it is there, the slot is busy, and no impression counts. */
const Busy = ({ element }: { element: HTMLElement | undefined }): null => {
  useEffectBeforePaint(() => {
    element?.setAttribute('aria-busy', 'true');
    return () => element?.removeAttribute('aria-busy');
  }, [element]);
  return null;
};

const Rendered = ({ render, banner, slot }: Pick<ContentProps, 'render'> & DrawnBanner): ReactNode =>
  render(banner, slot);

/**
 * What the host draws, behind boundaries of its own: what suspends or throws there would else hide or take away the
 * whole page around the placement. React has error boundaries as classes only, and asks none that goes with what throws,
 * so this one stays while nothing is drawn.
 */
export class Content extends Component<ContentProps, ContentState> {
  override state: ContentState = { drawn: null, last: null, hasFailed: false };

  static getDerivedStateFromProps({ drawn }: ContentProps, state: ContentState): ContentState | null {
    return drawn === state.drawn ? null : { drawn, last: drawn ?? state.last, hasFailed: false };
  }

  static getDerivedStateFromError = () => ({ hasFailed: true });

  override componentDidCatch(cause: unknown): void {
    this.state.last?.onError(cause);
  }

  override render(): ReactNode {
    const { drawn, hasFailed } = this.state;
    if (!drawn || hasFailed) return null;
    const fallback = createElement(Busy, { element: drawn.slot.element });
    return createElement(
      Suspense,
      { fallback },
      // Of another banner nothing stays, such as the state of a component.
      createElement(Rendered, { key: drawn.banner.id, ...drawn, render: this.props.render }),
    );
  }
}

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
  as?: 'div' | 'section' | 'aside' | 'li' | undefined;
} & ({ hook: PlacementHook; render?: undefined } | { hook?: undefined; render: RenderBanner });

/** The drawn banner, in state: the hook puts it there and takes it away. */
const useDrawn = (placementId: string) => {
  const placard = usePlacard();
  const bootstrap = useBootstrap();
  const [first] = useState(() => bootstrapped(bootstrap, placementId));
  const [drawn, setDrawn] = useState<DrawnBanner | null>(first);
  const [hook] = useState(() => renderedHook(setDrawn));
  useEffectBeforePaint(() => {
    // The client draws it anew with a slot of its own, or knows better.
    if (!first || !placard) return;
    return watchBootstrapped(placard, placementId, () => setDrawn((now) => (now === first ? null : now)));
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
