import type { Clock } from '../platform/clock.ts';
import type { Meta } from './records.ts';

/** The device's clock ahead of ours by more than this was set, or the computer slept: we follow. */
const DRIFT_MS = 100;
/** Further forwards than this is a leap: of a clock that was set, or of a page that was away. */
export const LEAP_MS = 10 * 60_000;
/** A stored time further ahead than this is not followed, whatever was before it. */
const MAX_AHEAD_MS = 7 * 24 * 60 * 60_000;
/** More natural keys than this in one millisecond: the next event takes the next millisecond. */
const MAX_KEYS = 64;

/**
 * Unix milliseconds that keep order when the device's clock is set back: counted from an anchor by the monotonic
 * clock, and re-anchored only forwards (a monotonic clock may stand still while the computer sleeps). A leap forwards
 * that the device takes back is taken back here too: it was a wrong clock, and no sleep.
 */
export const createEventClock = ({ now, monotonic }: Clock): (() => number) => {
  /** What the device's clock showed when the monotonic one stood at 0; and the same before the last leap. */
  let offset = now() - monotonic();
  let before: number | undefined;
  return () => {
    const device = now();
    const counted = offset + monotonic();
    if (device > counted + DRIFT_MS) {
      if (device > counted + LEAP_MS) before = offset;
      offset = device - monotonic();
    } else if (before !== undefined && device < before + monotonic() + DRIFT_MS) {
      offset = before;
      before = undefined;
    }
    return Math.floor(offset + monotonic());
  };
};

/**
 * Gives an event its time inside the transaction that stores it: not before `at`, not before any event stored by
 * any tab, and no two events of one natural key (user, banner, type) with the same one. Changes `meta`.
 */
export const stamp = (meta: Meta, at: number, naturalKey: string): number => {
  if (meta.lastTime + LEAP_MS < at && meta.lastTime > 0)
    meta.beforeLeap = { time: meta.lastTime, keys: meta.lastKeys };
  // The clock is back where it was before it leapt, so it was wrong in between.
  const { beforeLeap } = meta;
  if (beforeLeap && meta.lastTime > at + LEAP_MS && beforeLeap.time <= at + LEAP_MS) {
    meta.lastTime = beforeLeap.time;
    meta.lastKeys = beforeLeap.keys;
  }
  const last = meta.lastTime > at + MAX_AHEAD_MS ? 0 : meta.lastTime;
  let time = Math.max(at, last);
  if (time === last && (meta.lastKeys.includes(naturalKey) || meta.lastKeys.length >= MAX_KEYS)) time += 1;
  if (time !== last) meta.lastKeys = [];
  meta.lastKeys.push(naturalKey);
  meta.lastTime = time;
  return time;
};
