import { randomBytes } from 'node:crypto';

/** Milliseconds are counted from here, so that a serial stays far below 2^53. */
const EPOCH_MS = Date.UTC(2024, 0, 1);
const SERIALS_PER_MS = 4_096;
const SERIAL_DIGITS = 13;
/** A clock that is wrong by decades takes no serial beyond its digits: there is room to count on for 10^12 users. */
const LAST_OF_CLOCKS = 16 ** SERIAL_DIGITS - 2 ** 40;
const RANDOM_POOL_BYTES = 6 * 512;

/** The number inside a user's ID, by which SQLite keeps its row; `null` for what is no ID of ours. */
export const serialOf = (brazeId: string): number | null =>
  /^[0-9a-f]{25}$/.test(brazeId) ? Number.parseInt(brazeId.slice(0, SERIAL_DIGITS), 16) : null;

/**
 * Makes IDs that grow with time, so that new rows join at the end of their table: 13 hexadecimal digits of time and
 * counter, then 12 random ones, which keep the IDs of several replicas apart.
 */
export const createBrazeIds = (lastSerial = 0): ((nowMs: number) => string) => {
  let last = lastSerial;
  let pool = '';
  let used = 0;
  const random = () => {
    if (used >= pool.length) {
      pool = randomBytes(RANDOM_POOL_BYTES).toString('hex');
      used = 0;
    }
    used += 12;
    return pool.slice(used - 12, used);
  };
  return (nowMs) => {
    last = Math.max(last + 1, Math.min((nowMs - EPOCH_MS) * SERIALS_PER_MS, LAST_OF_CLOCKS));
    return last.toString(16).padStart(SERIAL_DIGITS, '0') + random();
  };
};
