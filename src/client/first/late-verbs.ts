import type { Diagnostics } from '../delivery/index.ts';
import type { Inspector } from '../inspector/index.ts';
import type { LateClient } from '../late/late-client.ts';
import type { Placard } from '../placard.ts';
import type { LateChunk } from './late-chunk.ts';

/** The diagnostics of a client that has captured nothing: an inert one, and one whose late chunk could not be loaded. */
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
  sender: false,
  waitingUntil: null,
};

/** The client's verbs that the late chunk answers alone. */
export const createLateVerbs = (run: LateChunk<LateClient>['run']) =>
  ({
    async refresh(placementIds) {
      await run<unknown>((client) => client.refresh(placementIds), null);
    },
    flush: () => run((client) => client.flush(), { delivered: 0, pending: 0 }),
    diagnostics: () => run((client) => client.diagnostics(), NO_DIAGNOSTICS),
    deadLetters: () => run((client) => client.deadLetters(), []),
    retryDeadLetters: (keys) => run((client) => client.retryDeadLetters(keys)),
    discardDeadLetters: (keys) => run((client) => client.discardDeadLetters(keys)),
    enable: () => run((client) => client.enable()),
    inspect: () => run<Inspector | null>((client) => client.inspect(), null),
  }) satisfies Partial<Placard>;
