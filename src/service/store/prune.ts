import type { RunSql } from '../operators/index.ts';
import type { Store } from './store.ts';

/** What happened before these moments goes; `null` keeps all of a kind. Unix milliseconds. */
export interface PruneBefore {
  events: number | null;
  bannerEvents: number | null;
}

/** Rows that went, and the user to go on after; `next` is `null` at the end. */
export interface Pruned {
  events: number;
  bannerEvents: number;
  next: number | null;
}

/** Users whose rows one step looks at: some milliseconds, so that writes come in between. */
const USERS_A_STEP = 1_000;

const LAST_OF_STEP = `SELECT max(user_id) AS last FROM (
    SELECT user_id FROM users WHERE workspace_id = $1 AND user_id > $2 ORDER BY user_id LIMIT ${USERS_A_STEP}
  ) AS step`;

const deleteFrom = (table: string, moment: string) =>
  `DELETE FROM ${table} WHERE user_id > $2 AND user_id <= $3 AND workspace_id = $1 AND time < ${moment} RETURNING user_id`;

/**
 * Deletes old events of the next users of a workspace. Users, their keys and what a decision needs to know of them stay.
 * `moment` makes the fourth value, Unix milliseconds, what the store has for times.
 */
export const createPrune =
  (run: RunSql, moment: string): Store['prune'] =>
  async (workspaceId, before, after) => {
    const [row] = await run(LAST_OF_STEP, [workspaceId, after]);
    const last = row?.['last'] ?? null;
    if (last === null) return { events: 0, bannerEvents: 0, next: null };
    const next = Number(last);
    const prune = async (table: string, ms: number | null) =>
      ms === null ? 0 : (await run(deleteFrom(table, moment), [workspaceId, after, next, ms])).length;
    return {
      events: await prune('events', before.events),
      bannerEvents: await prune('banner_events', before.bannerEvents),
      next,
    };
  };
