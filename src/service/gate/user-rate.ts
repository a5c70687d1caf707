import { hash } from 'node:crypto';
import { isRecord } from '../../protocol/index.ts';
import { windowStart } from '../store/rate-windows.ts';
import type { RateRule, RateState } from '../store/store.ts';

/** Users that are counted in one window, some 100 bytes each. With more of them counting begins anew. */
const MAX_USERS = 100_000;
/** A longer ID is counted by its hash: clients choose how long it is. */
const MAX_ID_CHARACTERS = 64;

/** The user that a body of a banner endpoint names; `null` where it names none, and the route refuses it. */
export const userOf = (body: unknown): string | null =>
  isRecord(body) && typeof body['external_user_id'] === 'string' ? body['external_user_id'] : null;

/**
 * Counts the requests of each user, in windows that start at whole multiples of their length. In the memory of this
 * replica: each replica allows a user as many, and a request costs the database nothing.
 */
export const createUserRates = (maxUsers = MAX_USERS) => {
  const windows = new Map<string, { startMs: number; taken: Map<string, number> }>();

  /** `scope` names a workspace's endpoint. */
  return (scope: string, userId: string, { requests, windowSeconds }: RateRule, nowMs: number): RateState => {
    const windowMs = windowSeconds * 1000;
    const id = `${scope} ${windowSeconds}`;
    const user = userId.length > MAX_ID_CHARACTERS ? hash('sha256', userId) : userId;
    let window = windows.get(id);
    const startMs = windowStart(window?.startMs, windowMs, nowMs);
    if (window?.startMs !== startMs || window.taken.size >= maxUsers) {
      window = { startMs, taken: new Map() };
      windows.set(id, window);
    }
    const taken = window.taken.get(user) ?? 0;
    const allowed = taken < requests;
    if (allowed) window.taken.set(user, taken + 1);
    return {
      allowed,
      limit: requests,
      remaining: allowed ? requests - taken - 1 : 0,
      resetAtMs: startMs + windowMs,
    };
  };
};
