// Test timeouts scale with the machine: `vite.config.ts` measures one factor per run before the first test.
import { createHash } from 'node:crypto';
import { availableParallelism, loadavg } from 'node:os';

/** Milliseconds that a quiet machine takes to hash `WORK`. */
const QUIET_MS = 60;
const WORK = Buffer.alloc(64 * 1024 * 1024);
const ROUNDS = 5;
const MAX_SLOWDOWN = 8;

/**
 * Returns how many times slower than an idle machine this one is now, 1 to 8, by a hash benchmark and by the load average
 * per core, which a short benchmark can miss.
 */
export const measureSlowdown = (): number => {
  const start = performance.now();
  for (let round = 0; round < ROUNDS; round += 1) createHash('sha256').update(WORK).digest();
  const hashing = (performance.now() - start) / ROUNDS / QUIET_MS;
  const load = loadavg()[0]! / availableParallelism();
  return Math.min(Math.max(1, hashing, load), MAX_SLOWDOWN);
};

/** Returns a timeout scaled to this machine. `ms`: generous timeout of an idle machine. */
export const patience = (ms: number): number => Math.ceil(ms * Number(process.env['PLACARD_SLOWDOWN'] ?? 1));
