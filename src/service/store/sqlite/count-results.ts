import type { DatabaseSync } from 'node:sqlite';
import { createLocalDays } from '../../local-days.ts';
import { countGoals } from '../count-goals.ts';
import type { CampaignResults, Counts, ResultsQuestion } from '../results.ts';
import { createRunSqlite } from './run.ts';

/** SQLite keeps the order of what it materializes, and in a `CROSS JOIN` it reads that first. */
const DIALECT = {
  as: 'AS MATERIALIZED',
  join: 'CROSS JOIN',
  start: '$5',
  end: 'first_impression_at + $4',
};

const TYPES = ['impression', 'click', 'dismiss'];

/** What there is of each of the types: events, their users, and the user who was counted last. */
interface Cell {
  events: number[];
  users: number[];
  last: number[];
}

/** One variant, or the control group. */
interface Arm extends Cell {
  placements: Map<string, Cell>;
  days: Map<string, Cell>;
}

const createCell = (): Cell => ({ events: [0, 0, 0], users: [0, 0, 0], last: [0, 0, 0] });
const createArm = (): Arm => ({ ...createCell(), placements: new Map(), days: new Map() });

const getOrAdd = <Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value => {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = create();
  map.set(key, value);
  return value;
};

const countsOf = ({ events, users }: Cell): Counts => ({
  impressions: events[0]!,
  clicks: events[1]!,
  dismissals: events[2]!,
  exposed: users[0]!,
  clicked: users[1]!,
  dismissed: users[2]!,
});

/** Users of one statement: whatever a function of theirs was given stays in memory until it ends. */
const USERS_A_STEP = 1_000;

/** `count_user` is called for one user after the other, and `count_event` for each of their events before the next. */
const COUNT = `SELECT count(count_event(placement_id, min(time, received_at),
    CASE event_type ${TYPES.map((type, index) => `WHEN '${type}' THEN ${index}`).join(' ')} END))
  FROM (
      SELECT * FROM user_campaigns WHERE workspace_id = ? AND campaign_id = ? AND user_id > ?
      ORDER BY user_id LIMIT ${USERS_A_STEP}
    ) AS seen CROSS JOIN banner_events AS done
    ON done.user_id = seen.user_id AND done.campaign_id = seen.campaign_id AND NOT is_test_send
  WHERE count_user(seen.user_id, seen.variant_id, first_impression_at, impressions, clicks, dismissals)`;

/** With functions that SQLite calls: with `GROUP BY` it would sort all events, which takes three times as long. */
const countArms = (
  database: DatabaseSync,
  workspaceId: string,
  { campaignId, timeZone }: ResultsQuestion,
) => {
  const localDays = createLocalDays(timeZone);
  const arms = new Map<string | null, Arm>();
  let arm = createArm();
  let user = 0;
  let startMs = Number.MAX_SAFE_INTEGER;

  const countUser = (
    userId: number,
    variantId: string | null,
    firstMs: number | null,
    impressions: number,
    clicks: number,
    dismissals: number,
  ): number => {
    user = userId;
    // Without an impression: their events are in no count.
    if (firstMs === null) return 0;
    arm = getOrAdd(arms, variantId, createArm);
    if (firstMs < startMs) startMs = firstMs;
    for (const [type, events] of [impressions, clicks, dismissals].entries()) {
      arm.events[type]! += events;
      if (events > 0) arm.users[type]! += 1;
    }
    return 1;
  };

  const count = (cell: Cell, type: number) => {
    cell.events[type]! += 1;
    if (cell.last[type] === user) return;
    cell.last[type] = user;
    cell.users[type]! += 1;
  };

  const countEvent = (placementId: string, ms: number, type: number): number => {
    count(getOrAdd(arm.placements, placementId, createCell), type);
    count(getOrAdd(arm.days, localDays.of(ms), createCell), type);
    return 1;
  };

  // The statement above knows what it gives.
  database.function('count_user', countUser as never);
  database.function('count_event', countEvent as never);
  const step = database.prepare(COUNT);
  for (let before = -1; before !== user; ) {
    before = user;
    step.get(workspaceId, campaignId, user);
  }
  return { arms: [...arms], startMs };
};

/** Counts a campaign in one go, which may take seconds: for a thread of its own. */
export const countResults = async (
  database: DatabaseSync,
  workspaceId: string,
  question: ResultsQuestion,
): Promise<CampaignResults> => {
  const { arms, startMs } = countArms(database, workspaceId, question);
  const goals = await countGoals(createRunSqlite(database), DIALECT, workspaceId, question, startMs);
  const parts = (of: (arm: Arm) => Map<string, Cell>) =>
    arms.flatMap(([variantId, arm]) =>
      [...of(arm)].map(([name, cell]) => ({ name, variantId, counts: countsOf(cell) })),
    );
  return {
    arms: arms.map(([variantId, arm]) => ({ variantId, ...countsOf(arm), goals: goals.of(variantId) })),
    placements: parts(({ placements }) => placements).map(({ name, variantId, counts }) => ({
      placementId: name,
      variantId,
      ...counts,
    })),
    days: parts(({ days }) => days)
      .map(({ name, variantId, counts }) => ({ day: name, variantId, ...counts }))
      .sort((one, other) => (one.day < other.day ? -1 : 1)),
    currencies: goals.currencies,
  };
};
