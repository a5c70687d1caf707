import { createContext, createElement, type ReactElement, type ReactNode, useContext } from 'react';
import type { BannerBootstrap, Placard } from '../client/index.ts';

const Context = createContext<Placard | null>(null);
const Bootstrap = createContext<BannerBootstrap | null | undefined>(null);

/**
 * Provides the client to descendants; `null` on a server, or until the client is created. `Placement` with `render` also renders
 * the banners of `bootstrap` without a client, on the server and during hydration. Pass the same `bootstrap` to the client.
 */
export const PlacardProvider = ({
  placard,
  bootstrap,
  children,
}: {
  placard: Placard | null;
  /** Result of `fetchBanners` of `placard/server`. */
  bootstrap?: BannerBootstrap | null | undefined;
  children?: ReactNode;
}): ReactElement =>
  createElement(
    Bootstrap.Provider,
    { value: bootstrap },
    createElement(Context.Provider, { value: placard }, children),
  );

/** Returns the client of the nearest provider; `null` if none. */
export const usePlacard = (): Placard | null => useContext(Context);

/** Returns the banners fetched by a server, from the nearest provider. */
export const useBootstrap = (): BannerBootstrap | null | undefined => useContext(Bootstrap);
