import { type App, type InjectionKey, inject, provide } from 'vue';
import type { Placard } from '../client/index.ts';

const KEY: InjectionKey<Placard | null> = Symbol('placard');

/**
 * Gives the components below their client: in `setup` those of this component, with `app` all of them. `null`, as on a
 * server, leaves every placement empty.
 */
export const providePlacard = (placard: Placard | null, app?: App): void => {
  if (app) app.provide(KEY, placard);
  else provide(KEY, placard);
};

/** The client of the nearest provider, `null` without one. */
export const usePlacard = (): Placard | null => inject(KEY, null);
