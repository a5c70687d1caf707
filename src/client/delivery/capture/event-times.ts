import type { Clock } from '../../platform/clock.ts';
import { LEAP_MS } from '../../platform/deadline.ts';

/** The device's clock ahead of ours by more than this was set, or the computer slept: we follow. */
const DRIFT_MS = 100;

/**
 * Gives the events of this page their times, in Unix milliseconds: in the order of the calls, and no two events of one
 * natural key (user, banner, type) the same one.
 *
 * Times are the monotonic clock plus an offset, so they keep order when the device's clock is set back by some minutes. Where
 * that one goes ahead the offset follows: a monotonic clock may stand still while the computer sleeps. Where it is set back by
 * more, it was wrong before, and the offset follows too.
 */
export const createEventTimes = ({ now, monotonic }: Clock) => {
  /** What the device's clock showed when the monotonic one stood at 0. */
  let offset = now() - monotonic();
  let lastTime = 0;
  /** The natural keys that have it. */
  let keys = new Set<string>();

  /** `at` is a time of the device's clock. That one may have been set back since, but an age is true on either clock. */
  return (at: number, naturalKey: string): number => {
    const device = now();
    const counted = offset + monotonic();
    const isSetBack = device < counted - LEAP_MS;
    if (isSetBack || device > counted + DRIFT_MS) offset = device - monotonic();
    if (isSetBack) lastTime = 0;
    const ordered = Math.floor(offset + monotonic() - Math.max(0, device - at));
    const isTaken = ordered <= lastTime && keys.has(naturalKey);
    const time = Math.max(ordered, lastTime + Number(isTaken));
    if (time > lastTime) {
      lastTime = time;
      keys = new Set();
    }
    keys.add(naturalKey);
    return time;
  };
};
