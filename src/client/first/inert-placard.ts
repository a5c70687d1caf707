import type { Placard } from '../placard.ts';
import { createLateVerbs } from './late-verbs.ts';
import { createNotices } from './notices.ts';

/** The client of a page whose options cannot be used: it draws, stores and sends nothing, and says why once. */
export const createInertPlacard = (cause: unknown): Placard => {
  const { fail, subscribe } = createNotices();
  const message = `Placard is off: ${cause}`;
  // In a moment: while the client is created no listener can have subscribed.
  queueMicrotask(() => {
    console.error(message);
    fail('config', message, cause);
  });
  const nothing = async (): Promise<void> => undefined;
  return {
    mount: () => () => undefined,
    identify: nothing,
    banner: () => undefined,
    track: async () => null,
    subscribe,
    // As where the late chunk cannot be loaded.
    ...createLateVerbs(async <R>(_: unknown, otherwise?: R) => otherwise as R),
    disable: nothing,
    stop: () => undefined,
    wipe: nothing,
  };
};
