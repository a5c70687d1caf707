import type { RateLimitWindow } from '../../protocol/index.ts';
import { formatColumnNames } from '../sql/columns.ts';
import { readNumber } from '../sql/row-readers.ts';
import { bigint, defineTable, text, timestamp } from '../sql/table.ts';
import type { Run } from './postgres/statement.ts';
import type { RateLimitResult } from './store.ts';

/** Share of a window's limit that a replica leases at a time, so that most requests need no database. */
const LEASE_SHARE = 0.01;
const MAX_LEASE = 500;
/** Number of cached windows at which expired windows are removed. */
const SWEEP_AT = 1_024;

export interface Window {
  id: string;
  rule: RateLimitWindow;
  startMs: number;
  endMs: number;
  /** Number of leased but unused requests. */
  left: number;
  /** Number of requests that all replicas have leased, as of the last lease. */
  leased: number;
  leasing: Promise<void> | null;
  waiting: number;
}

/** Adds to the shared count of all replicas in a window, and resolves with the sum. */
export type Lease = (window: Window, wanted: number) => Promise<number>;

/**
 * Returns the start of the window that counts a request at `nowMs`. A late request counts in the current window, because
 * returning to the previous window would lose its count. Returns an earlier window only if the clock was set back by more than a
 * window.
 */
export const windowStart = (knownMs: number | undefined, windowMs: number, nowMs: number): number => {
  const startMs = Math.floor(nowMs / windowMs) * windowMs;
  return knownMs !== undefined && knownMs > startMs && knownMs - startMs <= windowMs ? knownMs : startMs;
};

/**
 * Counts requests of all replicas in windows aligned to multiples of their length. For example, an hourly window starts at the
 * top of the hour. Each replica leases a few requests at a time. All replicas together never exceed the limit. Requests that a
 * replica has leased and not used by the end of a window are lost, at most 1% of the limit per replica.
 */
export const createRateWindows = (lease: Lease) => {
  const windows = new Map<string, Window>();

  const getWindow = (key: string, rule: RateLimitWindow, nowMs: number): Window => {
    const windowMs = rule.windowSeconds * 1000;
    const id = `${key} ${rule.windowSeconds}`;
    const known = windows.get(id);
    const startMs = windowStart(known?.startMs, windowMs, nowMs);
    if (known?.startMs === startMs) {
      known.rule = rule;
      return known;
    }
    if (windows.size > SWEEP_AT) {
      for (const [name, { endMs }] of windows) if (endMs <= nowMs) windows.delete(name);
    }
    const fresh: Window = {
      id,
      rule,
      startMs,
      endMs: startMs + windowMs,
      left: 0,
      leased: 0,
      leasing: null,
      waiting: 0,
    };
    windows.set(id, fresh);
    return fresh;
  };

  const leaseRequests = async (window: Window) => {
    const { requests } = window.rule;
    const share = Math.min(MAX_LEASE, Math.floor(requests * LEASE_SHARE));
    const wanted = Math.max(1, share, window.waiting);
    // The lease may exceed the rest of the window. The returned sum determines how much of the lease is valid.
    const leased = await lease(window, wanted);
    window.left += Math.max(0, Math.min(wanted, requests - (leased - wanted)));
    window.leased = Math.min(leased, requests);
  };

  /** Takes one request of a window. Returns `false` if no request is left. */
  const take = async (window: Window): Promise<boolean> => {
    window.waiting += 1;
    try {
      while (window.left === 0) {
        if (window.leased >= window.rule.requests) return false;
        window.leasing ??= leaseRequests(window).finally(() => {
          window.leasing = null;
        });
        await window.leasing;
      }
      window.left -= 1;
      return true;
    } finally {
      window.waiting -= 1;
    }
  };

  return async (
    wanted: readonly { key: string; rule: RateLimitWindow }[],
    nowMs: number,
  ): Promise<RateLimitResult> => {
    const consumed: Window[] = [];
    for (const { key, rule } of wanted) {
      const window = getWindow(key, rule, nowMs);
      if (!(await take(window))) {
        for (const other of consumed) other.left += 1;
        return { allowed: false, limit: rule.requests, remaining: 0, resetAtMs: window.endMs };
      }
      consumed.push(window);
    }
    const [first] = consumed;
    if (!first) return { allowed: true, limit: 0, remaining: 0, resetAtMs: nowMs };
    return {
      allowed: true,
      limit: first.rule.requests,
      remaining: Math.max(0, first.rule.requests - first.leased) + first.left,
      resetAtMs: first.endMs,
    };
  };
};

/** Minimum age of ended windows that are deleted from time to time. */
const KEEP_MS = 60_000;
const SWEEP_SHARE = 0.001;

/** Requests that the replicas have leased, by window. Unlogged, so the windows start from zero after a crash of the database. */
export const RATE_WINDOWS = defineTable(
  'rate_windows',
  {
    key: text('key'),
    startMs: timestamp('start_at'),
    endMs: timestamp('end_at'),
    leased: bigint('leased'),
  },
  { key: 'key, start_at', isUnlogged: true },
);

const LEASE = `INSERT INTO rate_windows (${formatColumnNames(RATE_WINDOWS.columns)})
  VALUES ($1, to_timestamp($2 / 1000.0), to_timestamp($3 / 1000.0), $4)
  ON CONFLICT (${RATE_WINDOWS.key}) DO UPDATE SET leased = rate_windows.leased + excluded.leased
  RETURNING leased`;
const SWEEP = 'DELETE FROM rate_windows WHERE end_at < to_timestamp($1 / 1000.0)';

/** Returns a function that leases from the row of a window, which all replicas share. */
export const leaseQuota =
  (run: Run): Lease =>
  async ({ id, startMs, endMs }, wanted) => {
    const [row] = await run(LEASE, [id, startMs, endMs, wanted]);
    if (Math.random() < SWEEP_SHARE) await run(SWEEP, [startMs - KEEP_MS]);
    return readNumber(row!, 'leased');
  };
