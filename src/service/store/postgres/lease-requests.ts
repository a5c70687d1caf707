import type { Lease } from '../rate-windows.ts';
import type { Run } from './statement.ts';

/** Windows that ended this long before the one that is leased from are deleted now and then. */
const KEEP_MS = 60_000;
const SWEEP_SHARE = 0.001;

const LEASE = `INSERT INTO rate_windows (key, start_at, end_at, taken)
  VALUES ($1, to_timestamp($2 / 1000.0), to_timestamp($3 / 1000.0), $4)
  ON CONFLICT (key, start_at) DO UPDATE SET taken = rate_windows.taken + excluded.taken
  RETURNING taken`;
const SWEEP = 'DELETE FROM rate_windows WHERE end_at < to_timestamp($1 / 1000.0)';

/** Leases from the row of a window, which all replicas share. */
export const leaseRequests =
  (run: Run): Lease =>
  async ({ id, startMs, endMs }, wanted) => {
    const [row] = await run<{ taken: string }>(LEASE, [id, startMs, endMs, wanted]);
    if (Math.random() < SWEEP_SHARE) await run(SWEEP, [startMs - KEEP_MS]);
    return Number(row?.taken);
  };
