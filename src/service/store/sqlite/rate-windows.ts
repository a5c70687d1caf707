import type { RateRule, RateState } from '../store.ts';

/** How many windows may be remembered before those that ended are let go. */
const SWEEP_AT = 1_024;

/**
 * Counts requests in windows that start at whole multiples of their length: an hourly one at the top of the hour.
 * In memory, because one process owns a SQLite file; a restart begins anew.
 */
export const createRateWindows = () => {
  const counts = new Map<string, { startMs: number; endMs: number; taken: number }>();

  const current = (key: string, rule: RateRule, nowMs: number) => {
    const windowMs = rule.windowSeconds * 1000;
    const startMs = Math.floor(nowMs / windowMs) * windowMs;
    const id = `${key} ${rule.windowSeconds}`;
    const window = counts.get(id);
    if (window?.startMs === startMs) return window;
    if (counts.size > SWEEP_AT) {
      for (const [name, { endMs }] of counts) if (endMs <= nowMs) counts.delete(name);
    }
    const fresh = { startMs, endMs: startMs + windowMs, taken: 0 };
    counts.set(id, fresh);
    return fresh;
  };

  return (windows: readonly { key: string; rule: RateRule }[], nowMs: number): RateState => {
    let first: RateState | undefined;
    const taking = windows.map(({ key, rule }) => ({ rule, window: current(key, rule, nowMs) }));
    for (const { rule, window } of taking) {
      if (window.taken >= rule.requests) {
        return { allowed: false, limit: rule.requests, remaining: 0, resetAtMs: window.endMs };
      }
      first ??= {
        allowed: true,
        limit: rule.requests,
        remaining: rule.requests - window.taken - 1,
        resetAtMs: window.endMs,
      };
    }
    for (const { window } of taking) window.taken += 1;
    return first ?? { allowed: true, limit: 0, remaining: 0, resetAtMs: nowMs };
  };
};
