import type { Pool, PoolClient } from 'pg';
import { isFarewell, isUsableAfter, orInDoubt } from './retry.ts';
import { type Run, runOn } from './statement.ts';
import { takeConnection } from './take-connection.ts';

interface Held {
  client: Promise<PoolClient>;
  /** From then on the next statement goes over another connection, as those of the pool do. */
  until: number;
  /** The server's last word, which goes for what it had not begun as well. */
  farewell?: unknown;
}

/** One connection, whose statements are stored in the order in which they are sent; another one once it is lost. */
export const createPipe = (pool: Pool): { run: Run; close(): void } => {
  const lifetimeMs = pool.options.maxLifetimeSeconds * 1000;
  const underWay = new Set<Promise<unknown>>();
  let held: Held | null = null;

  const letGo = (given: Held, isUsable: boolean) => {
    if (held !== given) return;
    held = null;
    given.client.then(
      (client) => client.release(!isUsable),
      () => undefined,
    );
  };

  const hold = (): Held => {
    // What is sent over the connection before must be stored before.
    const client = Promise.allSettled(underWay).then(() => takeConnection(pool));
    const given: Held = { client, until: performance.now() + lifetimeMs };
    client.then(
      (connected) => connected.once('error', () => letGo(given, false)),
      () => letGo(given, false),
    );
    return given;
  };

  const current = (): Held => {
    if (held && performance.now() >= held.until) letGo(held, false);
    held ??= hold();
    return held;
  };

  return {
    run: async (text, values) => {
      const given = current();
      const rows = given.client.then((client) =>
        runOn(client)<never>(text, values).catch((error: unknown) => {
          if (isFarewell(error)) given.farewell = error;
          throw orInDoubt(given.farewell ?? error);
        }),
      );
      underWay.add(rows);
      try {
        return await rows;
      } catch (error) {
        if (!isUsableAfter(error)) letGo(given, false);
        throw error;
      } finally {
        underWay.delete(rows);
      }
    },
    close() {
      if (held) letGo(held, true);
    },
  };
};
