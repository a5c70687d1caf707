import { setImmediate } from 'node:timers/promises';
import type { Pool } from 'pg';
import { mostOf } from './take-connection.ts';

/** Opens what a pool has fewer connections than it may. Rejects where the server has no room for them, or is away. */
export const fillPool = async (pool: Pool): Promise<void> => {
  const { totalCount, idleCount, options } = pool;
  const most = mostOf(pool);
  if (totalCount >= most) return;
  options.max = most;
  const busy = totalCount - idleCount;
  // All at once: those that are open and idle are given out first.
  const asked = Array.from({ length: most - busy }, () => pool.connect());
  // By then the others are being made, which may take long: nobody need wait for the open ones so long.
  const isAsked = setImmediate();
  const opened = asked.map(async (client) => {
    const open = await client;
    await isAsked;
    open.release();
  });
  for (const one of await Promise.allSettled(opened)) if (one.status === 'rejected') throw one.reason;
};
