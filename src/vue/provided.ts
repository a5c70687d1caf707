import { type App, type InjectionKey, inject, provide } from 'vue';
import type { BannerBootstrap, Placard } from '../client/index.ts';

type Bootstrap = BannerBootstrap | null | undefined;

const KEY: InjectionKey<Placard | null> = Symbol('placard');
const BOOTSTRAP: InjectionKey<Bootstrap> = Symbol('placard bootstrap');

/**
 * Gives the components below their client: in `setup` those of this component, with `app` all of them. `null`, as on a
 * server, leaves every placement empty but for what `bootstrap` holds: that is drawn in slots, on the server and in the
 * browser's first render. Give the client the same one.
 */
export const providePlacard = (placard: Placard | null, app?: App, bootstrap?: Bootstrap): void => {
  if (app) app.provide(KEY, placard).provide(BOOTSTRAP, bootstrap);
  else {
    provide(KEY, placard);
    provide(BOOTSTRAP, bootstrap);
  }
};

/** The client of the nearest provider, `null` without one. */
export const usePlacard = (): Placard | null => inject(KEY, null);

/** What a server has answered before this page. */
export const useBootstrap = (): Bootstrap => inject(BOOTSTRAP, null);
