import type { Placard } from '../placard.ts';
import { NO_DIAGNOSTICS } from './no-diagnostics.ts';
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
    refresh: nothing,
    banner: () => undefined,
    track: async () => null,
    subscribe,
    flush: async () => ({ delivered: 0, pending: 0 }),
    diagnostics: async () => NO_DIAGNOSTICS,
    deadLetters: async () => [],
    retryDeadLetters: nothing,
    discardDeadLetters: nothing,
    inspect: async () => null,
    enable: nothing,
    disable: nothing,
    stop: () => undefined,
    wipe: nothing,
  };
};
