import { DatabaseError, type Pool, type PoolClient } from 'pg';

/** Where a server had no room for one more connection, the next is asked for after this long. */
const GROW_AGAIN_MS = 2_000;
/** As long as one waits for a connection that others have. */
const PATIENCE_MS = 10_000;

/** No room for one more: of the server, the database or the role; or it is just starting or ending. */
const isNoRoom = (error: unknown): boolean =>
  error instanceof DatabaseError && /^(53300|57P03)$/.test(error.code ?? '');

interface Size {
  /** Connections that the pool may have. */
  most: number;
  /** Those that were made and not closed since. */
  working: number;
  /** Those that are being made for whoever waits. */
  opening: number;
  isScheduled: boolean;
  growAgainAt: number;
}

const sizes = new WeakMap<Pool, Size>();

/** Begins to count the connections of a pool that was just made. */
export const countConnections = (pool: Pool): void => {
  const size = { most: pool.options.max, working: 0, opening: 0, isScheduled: false, growAgainAt: 0 };
  sizes.set(pool, size);
  pool.on('connect', () => {
    size.working += 1;
  });
  pool.on('remove', () => {
    size.working -= 1;
  });
};

/** Connections that a pool may have; its own `max` is lower while it makes do with those that it has. */
export const mostOf = (pool: Pool): number => sizes.get(pool)?.most ?? pool.options.max;

const open = async (pool: Pool, size: Size) => {
  size.opening += 1;
  pool.options.max = pool.totalCount + 1;
  try {
    const opened = pool.connect();
    pool.options.max = Math.max(1, pool.totalCount - size.opening);
    (await opened).release();
  } catch {
    // Whoever waits has the others; whether there are enough is told by their times.
    size.growAgainAt = performance.now() + GROW_AGAIN_MS;
  }
  size.opening -= 1;
};

/** One more for each who waits, in a turn when those that are idle are given out. */
const grow = (pool: Pool, size: Size) => {
  if (size.isScheduled || pool.waitingCount === 0) return;
  size.isScheduled = true;
  setImmediate(() => {
    size.isScheduled = false;
    if (pool.idleCount > 0 || pool.ending || performance.now() < size.growAgainAt) return;
    while (size.opening < pool.waitingCount && pool.totalCount < size.most) void open(pool, size);
  });
};

/**
 * Takes a connection of a pool. The pool itself would open one more for whoever finds none that is idle, and its refusal
 * would be his, or its silence, where a pooler has no room. So while there is any connection, who finds none idle waits
 * for one of them, and one more is opened beside that.
 */
export const takeConnection = async (pool: Pool): Promise<PoolClient> => {
  const size = sizes.get(pool);
  if (!size) return pool.connect();
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    // Without any, one is opened for whoever comes first.
    pool.options.max = Math.max(1, pool.totalCount - size.opening);
    const taken = pool.connect();
    grow(pool, size);
    try {
      return await taken;
    } catch (error) {
      if (!isNoRoom(error) || size.working === 0 || performance.now() > until) throw error;
      size.growAgainAt = performance.now() + GROW_AGAIN_MS;
    }
  }
};
