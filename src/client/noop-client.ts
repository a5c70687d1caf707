import type { DeferredChunk } from './deferred-chunk.ts';
import type { DeferredClient } from './deferred-client.ts';
import type { Diagnostics } from './delivery/delivery.ts';
import type { Inspector } from './inspector/inspector.ts';
import { createNotices } from './notices.ts';
import type { Placard } from './placard.ts';

/** Diagnostics of a client that has captured nothing: inert, or without its deferred chunk. */
const NO_DIAGNOSTICS: Diagnostics = {
  captured: 0,
  delivered: 0,
  pending: 0,
  inDoubt: 0,
  deadLetters: 0,
  discarded: 0,
  evicted: 0,
  expired: 0,
  purged: 0,
  memoryMode: false,
  isLeader: false,
  pausedUntil: null,
};

/** Creates the client methods that only the deferred chunk implements. */
export const createDeferredMethods = (run: DeferredChunk<DeferredClient>['run']) =>
  ({
    async refresh(placementIds) {
      await run<unknown>((client) => client.refresh(placementIds), null);
    },
    flush: () => run(({ delivery }) => delivery.flush(), { delivered: 0, pending: 0 }),
    diagnostics: () => run(({ delivery }) => delivery.diagnostics(), NO_DIAGNOSTICS),
    deadLetters: () => run(({ delivery }) => delivery.deadLetters(), []),
    retryDeadLetters: (keys) => run(({ delivery }) => delivery.retryDeadLetters(keys)),
    discardDeadLetters: (keys) => run(({ delivery }) => delivery.discardDeadLetters(keys)),
    inspect: () => run<Inspector | null>((client) => client.inspect(), null),
  }) satisfies Partial<Placard>;

/**
 * Creates a client that renders, stores and sends nothing. Used on a server, and for invalid options, whose error (`cause`) it
 * reports once.
 */
export const createNoopClient = (cause?: unknown): Placard => {
  const { fail, subscribe } = createNotices();
  const message = `Placard is off: ${cause}`;
  // Deferred, because no listener can subscribe while the client is being created.
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
    // Behaves as if the deferred chunk could not be loaded.
    ...createDeferredMethods(async <R>(_: unknown, fallback?: R) => fallback as R),
    async refresh() {
      if (!cause) fail('sync', 'The client is inactive on a server: refresh() was skipped');
    },
    reevaluate: () => undefined,
    enable: nothing,
    disable: nothing,
    stop: () => undefined,
    wipe: nothing,
  };
};
