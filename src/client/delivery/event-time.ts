import type { Clock } from '../platform/clock.ts';
import type { Meta } from './records.ts';

/** The device's clock ahead of ours by more than this was set, or the computer slept: we follow. */
const DRIFT_MS = 100;
/** A stored time further ahead than this comes from a clock that was wrong: it is not followed for days. */
const MAX_AHEAD_MS = 7 * 24 * 60 * 60_000;
/** More natural keys than this in one millisecond: the next event takes the next millisecond. */
const MAX_KEYS = 64;

/**
 * Unix milliseconds that keep order when the device's clock is set back: counted from an anchor by the monotonic
 * clock, and re-anchored only forwards (a monotonic clock may stand still while the computer sleeps).
 */
export const createEventClock = ({ now, monotonic }: Clock): (() => number) => {
  let wall = now();
  let anchor = monotonic();
  return () => {
    const counted = wall + (monotonic() - anchor);
    const device = now();
    if (device > counted + DRIFT_MS) {
      wall = device;
      anchor = monotonic();
      return device;
    }
    return Math.floor(counted);
  };
};

/**
 * Gives an event its time inside the transaction that stores it: not before `at`, not before any event stored by
 * any tab, and no two events of one natural key (user, banner, type) with the same one. Changes `meta`.
 */
export const stamp = (meta: Meta, at: number, naturalKey: string): number => {
  const last = meta.lastTime > at + MAX_AHEAD_MS ? 0 : meta.lastTime;
  let time = Math.max(at, last);
  if (time === last && (meta.lastKeys.includes(naturalKey) || meta.lastKeys.length >= MAX_KEYS)) time += 1;
  if (time !== last) meta.lastKeys = [];
  meta.lastKeys.push(naturalKey);
  meta.lastTime = time;
  return time;
};
