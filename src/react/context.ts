import { createContext, createElement, type ReactElement, type ReactNode, useContext } from 'react';
import type { BannerBootstrap, Placard } from '../client/index.ts';

const Context = createContext<Placard | null>(null);
const Bootstrap = createContext<BannerBootstrap | null | undefined>(null);

/**
 * Gives the components below their client: `null` on a server, and until there is one. What `bootstrap` holds is drawn
 * all the same, by `Placement` with `render`, on the server and in the browser's first render. Give the client the same one.
 */
export const PlacardProvider = ({
  placard,
  bootstrap,
  children,
}: {
  placard: Placard | null;
  /** What `fetchBanners` of `placard/server` has answered. */
  bootstrap?: BannerBootstrap | null | undefined;
  children?: ReactNode;
}): ReactElement =>
  createElement(
    Bootstrap.Provider,
    { value: bootstrap },
    createElement(Context.Provider, { value: placard }, children),
  );

/** The client of the nearest provider, `null` without one. */
export const usePlacard = (): Placard | null => useContext(Context);

/** What a server has answered before this page. */
export const useBootstrap = (): BannerBootstrap | null | undefined => useContext(Bootstrap);
