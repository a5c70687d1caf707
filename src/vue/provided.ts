import { type App, type InjectionKey, inject, provide } from 'vue';
import type { BannerBootstrap, Placard } from '../client/index.ts';

type Bootstrap = BannerBootstrap | null | undefined;

const KEY: InjectionKey<Placard | null> = Symbol('placard');
const BOOTSTRAP: InjectionKey<Bootstrap> = Symbol('placard bootstrap');

/**
 * Provides the client to descendants: in `setup` to those of the component, with `app` to all components. With `null`, as on a
 * server, placements are empty, but default slots render the banners of `bootstrap` on the server and during hydration. Pass the
 * same `bootstrap` to the client.
 */
export const providePlacard = (placard: Placard | null, app?: App, bootstrap?: Bootstrap): void => {
  if (app) app.provide(KEY, placard).provide(BOOTSTRAP, bootstrap);
  else {
    provide(KEY, placard);
    provide(BOOTSTRAP, bootstrap);
  }
};

/** Returns the client of the nearest provider; `null` if none. */
export const usePlacard = (): Placard | null => inject(KEY, null);

/** Returns the banners fetched by a server, from the nearest provider. */
export const useBootstrap = (): Bootstrap => inject(BOOTSTRAP, null);
