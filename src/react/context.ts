import { createContext, createElement, type ReactElement, type ReactNode, useContext } from 'react';
import type { Placard } from '../client/index.ts';

const Context = createContext<Placard | null>(null);

/** Gives the components below their client. `null`, as on a server, leaves every placement empty. */
export const PlacardProvider = ({
  placard,
  children,
}: {
  placard: Placard | null;
  children?: ReactNode;
}): ReactElement => createElement(Context.Provider, { value: placard }, children);

/** The client of the nearest provider, `null` without one. */
export const usePlacard = (): Placard | null => useContext(Context);
