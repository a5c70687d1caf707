import { Component, createElement, type ReactNode, Suspense } from 'react';
import type { DrawnBanner } from '../bindings/index.ts';
import type { Banner, Slot } from '../client/index.ts';
import { useEffectBeforePaint } from './before-paint.ts';

export interface ContentProps {
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
      createElement(Rendered, { ...drawn, render: this.props.render }),
    );
  }
}
