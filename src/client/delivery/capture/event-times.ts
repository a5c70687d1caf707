import type { Clock } from '../../platform/clock.ts';
import { LEAP_MS } from '../../platform/deadline.ts';

/** The device's clock ahead of ours by more than this was set, or the computer slept: we follow. */
const DRIFT_MS = 100;

/** A time that was given, and the natural keys that have it. */
interface Given {
  time: number;
  keys: Set<string>;
}

/**
 * Gives the events of this page their times, in Unix milliseconds: in the order of the calls, and no two events of one
 * natural key (user, banner, type) the same one.
 *
 * Times are the monotonic clock plus an offset, so they keep order when the device's clock is set back. The offset only grows:
 * a monotonic clock may stand still while the computer sleeps. When the device takes a leap forwards back, the offset of before
 * returns: the clock was wrong, and the computer did not sleep.
 */
export const createEventTimes = ({ now, monotonic }: Clock) => {
  /** What the device's clock showed when the monotonic one stood at 0. */
  let offset = now() - monotonic();
  let given: Given = { time: 0, keys: new Set() };
  /** Both as they were before the last leap. */
  let before: { offset: number; given: Given } | undefined;

  const follow = (device: number): void => {
    const counted = offset + monotonic();
    if (device > counted + DRIFT_MS) {
      if (device > counted + LEAP_MS) before = { offset, given };
      offset = device - monotonic();
    } else if (before && device < before.offset + monotonic() + DRIFT_MS) {
      ({ offset, given } = before);
      before = undefined;
    }
  };

  /** `at` is a time of the device's clock. That one may have been set back since, but an age is true on either clock. */
  return (at: number, naturalKey: string): number => {
    const device = now();
    follow(device);
    const ordered = Math.floor(offset + monotonic() - Math.max(0, device - at));
    const isTaken = ordered <= given.time && given.keys.has(naturalKey);
    const time = Math.max(ordered, given.time + Number(isTaken));
    if (time > given.time) given = { time, keys: new Set() };
    given.keys.add(naturalKey);
    return time;
  };
};
