import type { Ledger } from './ledger.ts';
import { type Batch, batchKey, isBatch } from './records.ts';

export interface GiveBackOptions {
  ledger: Ledger;
  newId: () => string;
}

/**
 * Puts batches that were leased, but not sent, back as they were: whoever is next may send them at once, and they are not
 * in doubt. `wasSent` is asked for each within the step; a batch that another tab has taken over stays with it.
 */
export const createGiveBack =
  ({ ledger, newId }: GiveBackOptions) =>
  async (batches: Batch[], wasSent: (index: number) => boolean = () => false): Promise<void> => {
    await ledger.step(
      batches.map(({ id }) => batchKey(id)),
      (meta, stored) => {
        const back = batches.flatMap(({ attempt }, i): Batch[] => {
          const batch = stored[i];
          if (wasSent(i) || !isBatch(batch) || batch.attempt !== attempt) return [];
          return [{ ...batch, state: 'ready', attempt: newId(), until: 0 }];
        });
        if (back.length === 0) return null;
        meta.batches += 1;
        return { writes: back.map((batch) => [batchKey(batch.id), batch]), result: true };
      },
    );
  };
