import { randomInt } from 'node:crypto';

/** Milliseconds are counted from here: with the clock of the year 2163 an ID still is an exact number. */
const EPOCH_MS = Date.UTC(2024, 0, 1);
/** IDs of one millisecond: 32 in each of 64 lanes. */
const IDS_PER_MS = 2_048;
const LANES = 64;
/** A clock that is wrong by centuries leaves room to count on. */
const MAX_OF_CLOCKS = Number.MAX_SAFE_INTEGER - 2 ** 40;

/** The number of a `braze_id`; `null` of a text that is none of ours. */
export const userIdOf = (brazeId: string): number | null => {
  const id = /^[1-9]\d{0,15}$/.test(brazeId) ? Number(brazeId) : Number.NaN;
  return Number.isSafeInteger(id) ? id : null;
};

/**
 * Makes IDs that grow with time, so that new rows join at the end of their table. Every replica counts in a lane of its own,
 * which it chooses at random: two that chose the same one may make the same ID at the same time, which the database refuses.
 * Then `changeLane` helps.
 */
export const createUserIds = (after = 0) => {
  let last = after;
  let lane = randomInt(LANES);
  return {
    next(nowMs: number): number {
      const clock = Math.min((nowMs - EPOCH_MS) * IDS_PER_MS, MAX_OF_CLOCKS);
      const base = Math.max(last + 1, clock);
      // The next number that belongs to the lane.
      last = base + ((((lane - base) % LANES) + LANES) % LANES);
      return last;
    },
    changeLane() {
      lane = randomInt(LANES);
    },
  };
};

export type UserIds = ReturnType<typeof createUserIds>;
