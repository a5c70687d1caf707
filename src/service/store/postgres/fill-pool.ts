import type { Pool, PoolClient } from 'pg';

/** Opens what a pool has fewer connections than it may. Rejects where the server has no room for them, or is away. */
export const fillPool = async (pool: Pool): Promise<void> => {
  const { totalCount, idleCount, options } = pool;
  if (totalCount >= options.max) return;
  const busy = totalCount - idleCount;
  // All at once: those that are open and idle are given out first.
  const clients = await Promise.allSettled(Array.from({ length: options.max - busy }, () => pool.connect()));
  const isOpen = (client: PromiseSettledResult<PoolClient>) => client.status === 'fulfilled';
  for (const { value } of clients.filter(isOpen)) value.release();
  for (const client of clients) if (client.status === 'rejected') throw client.reason;
};
