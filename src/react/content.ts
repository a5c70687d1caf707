import { Component, createElement, type ReactNode, Suspense } from 'react';
import type { Banner, Slot } from '../client/index.ts';
import { useEffectBeforePaint } from './before-paint.ts';

export interface ContentProps {
  banner: Banner;
  slot: Slot;
  /** What the host draws in React. */
  render: (banner: Banner, slot: Slot) => ReactNode;
  onError: (cause: unknown) => void;
}

/** Stands in for what is still loading: while it is there, the slot is busy, and no impression counts. */
const Busy = ({ element }: { element: HTMLElement }): null => {
  useEffectBeforePaint(() => {
    element.setAttribute('aria-busy', 'true');
    return () => element.removeAttribute('aria-busy');
  }, [element]);
  return null;
};

const Rendered = ({ render, banner, slot }: ContentProps): ReactNode => render(banner, slot);

/**
 * What the host draws, behind boundaries of its own: what suspends or throws there would else hide or take away the
 * whole page around the placement. React has error boundaries as classes only.
 */
export class Content extends Component<ContentProps, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError = () => ({ hasFailed: true });

  override componentDidCatch(cause: unknown): void {
    this.props.onError(cause);
  }

  override render(): ReactNode {
    if (this.state.hasFailed) return null;
    const fallback = createElement(Busy, { element: this.props.slot.element });
    return createElement(Suspense, { fallback }, createElement(Rendered, this.props));
  }
}
