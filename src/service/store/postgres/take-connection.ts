import { setTimeout as pause } from 'node:timers/promises';
import { DatabaseError, type Pool, type PoolClient } from 'pg';

/** How long a request waits for a connection of others, and how often it asks. */
const WAIT_MS = 10_000;
const AGAIN_MS = 20;

/** No room for one more: of the server, the database or the role; or it is just starting or ending. */
const NO_ROOM = /^(53300|57P03)/;
/** The server ends the connection, or it is in trouble, or it became a copy of another one and kept its connections. */
const ENDINGS = /^(08|25006|25P03|57P|58|XX)/;

/** False where a connection is of no more use, as after anything that is no answer of the database. */
export const isUsableAfter = (error: unknown): boolean =>
  error instanceof DatabaseError && !ENDINGS.test(error.code ?? '');

/**
 * Takes a connection of a pool. Where none is idle the pool opens one more; where the server has no room for it, there
 * are others, which come free.
 */
export const takeConnection = async (pool: Pool): Promise<PoolClient> => {
  const until = performance.now() + WAIT_MS;
  for (;;) {
    try {
      return await pool.connect();
    } catch (error) {
      const isNoRoom = error instanceof DatabaseError && NO_ROOM.test(error.code ?? '');
      if (!isNoRoom || pool.totalCount === 0 || performance.now() > until) throw error;
      await pause(AGAIN_MS);
    }
  }
};
