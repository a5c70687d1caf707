const BASE_MS = 500;
const CAP_MS = 60_000;

/**
 * How long to wait after the `attempt`th failure (1, 2, …): full jitter under a bound that doubles, so that many callers
 * spread out. A wait that the server asked for is kept, with a little jitter on top.
 */
export const backoffMs = (attempt: number, random: number, serverWaitMs?: number): number => {
  const bound = Math.min(CAP_MS, BASE_MS * 2 ** (attempt - 1));
  return serverWaitMs === undefined ? random * bound : serverWaitMs + random * BASE_MS;
};
