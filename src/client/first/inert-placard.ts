import type { Placard } from '../placard.ts';
import { createLateVerbs } from './late-verbs.ts';
import { createNotices } from './notices.ts';

/**
 * A client that draws, stores and sends nothing: of a page whose options cannot be used, which says why once (`cause`), and
 * of a server, where there is no page to draw on.
 */
export const createInertPlacard = (cause?: unknown): Placard => {
  const { fail, subscribe } = createNotices();
  const message = `Placard is off: ${cause}`;
  // In a moment: while the client is created no listener can have subscribed.
  if (cause) {
    queueMicrotask(() => {
      console.error(message);
      fail('config', message, cause);
    });
  }
  const nothing = async (): Promise<void> => undefined;
  return {
    mount: () => () => undefined,
    identify: nothing,
    banner: () => undefined,
    track: async () => null,
    subscribe,
    // As where the late chunk cannot be loaded.
    ...createLateVerbs(async <R>(_: unknown, otherwise?: R) => otherwise as R),
    async refresh() {
      if (!cause) fail('sync', 'There is no page here: on a server the client does nothing');
    },
    disable: nothing,
    stop: () => undefined,
    wipe: nothing,
  };
};
