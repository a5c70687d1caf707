import type { Pool, PoolClient } from 'pg';
import { isUsableAfter } from './retry.ts';
import { type Run, runOn } from './statement.ts';

/** One connection, whose statements are stored in the order in which they are sent; another one once it is lost. */
export const createPipe = (pool: Pool): { run: Run; close(): Promise<void> } => {
  let held: Promise<PoolClient> | null = null;

  const letGo = async (holding: Promise<PoolClient>, isUsable: boolean) => {
    if (held !== holding) return;
    held = null;
    (await holding).release(!isUsable);
  };

  const hold = (): Promise<PoolClient> => {
    const holding = pool.connect();
    holding.then(
      (client) => client.once('error', () => letGo(holding, false)),
      () => {
        held = null;
      },
    );
    return holding;
  };

  return {
    run: async (text, values) => {
      held ??= hold();
      const holding = held;
      try {
        return await runOn(await holding)(text, values);
      } catch (error) {
        if (!isUsableAfter(error)) await letGo(holding, false);
        throw error;
      }
    },
    close: async () => {
      if (held) await letGo(held, true);
    },
  };
};
