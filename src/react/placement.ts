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
  /** `null` while nothing is rendered. */
  drawn: DrawnBanner | null;
  /** Render function of the host. */
  render: (banner: Banner, slot: Slot) => ReactNode;
}

interface ContentState {
  drawn: DrawnBanner | null;
  /** Last banner, to which errors that its effects throw during unmount are attributed. */
  last: DrawnBanner | null;
  hasFailed: boolean;
}

/** Suspense fallback that marks the slot as busy, so that no impression counts. */
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
 * Renders the host's content behind its own Suspense and error boundaries, so that the page around the placement is not affected.
 * React requires a class for error boundaries, and skips boundaries that unmount together with the content that throws, so this
 * one stays mounted.
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
      // The key resets component state when the banner changes.
      createElement(Rendered, { key: drawn.banner.id, ...drawn, render: this.props.render }),
    );
  }
}

/**
 * Renders a banner in React. `slot` logs clicks, dismisses and checks URLs. While the function suspends, the slot stays empty. If
 * it throws, the client emits a `failed` notice, and the slot stays empty until the next banner.
 */
export type RenderBanner = (banner: Banner, slot: Slot) => ReactNode;

/** Props of `Placement`: a placement with a `hook` or `render`. Other props go to its element. */
export type PlacementProps = Omit<HTMLAttributes<HTMLElement>, 'children'> & {
  /** ID of the placement. */
  placementId: string;
  /** Element around the banner, which your styles should size. Default `div`. */
  as?: 'div' | 'section' | 'aside' | 'li' | undefined;
} & ({ hook: PlacementHook; render?: undefined } | { hook?: undefined; render: RenderBanner });

/** State of the rendered banner, set and cleared by the hook. */
const useDrawn = (placementId: string) => {
  const placard = usePlacard();
  const bootstrap = useBootstrap();
  const [first] = useState(() => bootstrapped(bootstrap, placementId));
  const [drawn, setDrawn] = useState<DrawnBanner | null>(first);
  const [hook] = useState(() => renderedHook(setDrawn));
  useEffectBeforePaint(() => {
    // The client renders the banner again with its own slot, or shows something else.
    if (!first || !placard) return;
    return watchBootstrapped(placard, placementId, () => setDrawn((now) => (now === first ? null : now)));
  }, [first, placard, placementId]);
  return { drawn, hook };
};

/**
 * Renders a placement: `createElement(Placement, { placementId: 'home_hero', hook: hero })`, or with `render` instead of `hook`
 * to render the banner in React.
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
