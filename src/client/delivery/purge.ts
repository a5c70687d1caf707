import type { FallbackStore } from '../platform/fallback-store.ts';
import type { Store } from '../platform/store.ts';
import { type CapsOptions, createCaps } from './caps.ts';
import { createLedger } from './ledger.ts';

export interface PurgeOptions {
  caps: Pick<ReturnType<typeof createCaps>, 'purge'>;
  capsOptions: CapsOptions;
  disk: Store;
  store: Pick<FallbackStore, 'isMemory' | 'retry'>;
  newId: () => string;
}

const nobody = () => undefined;

/** Forgets every event: those that lie on a disk out of reach as soon as it answers, before anything is moved there. */
export const createPurge = ({ caps, capsOptions, disk, store, newId }: PurgeOptions) => {
  let isOwed = false;

  return {
    async now(): Promise<void> {
      isOwed = true;
      await caps.purge();
      isOwed &&= store.isMemory();
      store.retry();
    },

    /** What memory mode kept out of reach. */
    async owed(): Promise<void> {
      if (!isOwed) return;
      const ledger = createLedger({
        store: disk,
        newId,
        firstSequence: () => 0,
        onWiped: nobody,
        onConsent: nobody,
      });
      // A disk that is too full to count what goes can still forget.
      await createCaps({ ...capsOptions, store: disk, ledger })
        .purge()
        .catch(disk.clear);
      isOwed = false;
    },
  };
};
