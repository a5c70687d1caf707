import type { DatabaseSync } from 'node:sqlite';
import { createLocalDays } from '../../local-days.ts';
import type { Row } from '../from-row.ts';
import { goalName, goalStatement, readGoals } from '../goal-statement.ts';
import type { CampaignResults, Counts, ResultsQuestion } from '../results.ts';

/** In a `CROSS JOIN` SQLite reads the events first, by their index, and looks each user up. */
const DIALECT = { join: 'CROSS JOIN', start: '$5', end: 'first_impression_at + $4' };

type EventType = 'impression' | 'click' | 'dismiss';
const COUNTED = {
  impression: ['impressions', 'exposed'],
  click: ['clicks', 'clicked'],
  dismiss: ['dismissals', 'dismissed'],
} as const;

/** The counts of one variant on one day, for instance. */
interface Cell {
  name: string;
  variantId: string | null;
  counts: Counts;
  /** The user who was counted last: the rows of a user come one after the other. */
  last: Record<EventType, number>;
}

const noCounts = (): Counts => ({
  impressions: 0,
  clicks: 0,
  dismissals: 0,
  exposed: 0,
  clicked: 0,
  dismissed: 0,
});

const createCells = () => {
  const cells = new Map<string, Cell>();
  return {
    add(name: string, variantId: string | null, type: EventType, userId: number) {
      // No name has the character between them.
      const key = `${name}\0${variantId ?? ''}`;
      let cell = cells.get(key);
      if (!cell) {
        cell = { name, variantId, counts: noCounts(), last: { impression: 0, click: 0, dismiss: 0 } };
        cells.set(key, cell);
      }
      const [events, users] = COUNTED[type];
      cell.counts[events] += 1;
      if (cell.last[type] === userId) return;
      cell.last[type] = userId;
      cell.counts[users] += 1;
    },
    all: (): Cell[] => [...cells.values()],
  };
};

/** One row a user and event, or a user alone where no event is left of them. */
const COUNT = `SELECT count(count_row(seen.user_id, seen.variant_id, impressions, clicks, dismissals, first_impression_at,
    placement_id, event_type, min(time, received_at)))
  FROM user_campaigns AS seen LEFT JOIN banner_events AS done ON done.user_id = seen.user_id
    AND done.campaign_id = seen.campaign_id AND NOT is_test_send
  WHERE seen.workspace_id = ? AND seen.campaign_id = ? AND impressions > 0`;

/** A function that SQLite calls for every row: with `GROUP BY` it would sort them all, which takes three times as long. */
const countRows = (
  database: DatabaseSync,
  workspaceId: string,
  { campaignId, timeZone }: ResultsQuestion,
) => {
  const localDays = createLocalDays(timeZone);
  const arms = new Map<string | null, Counts>();
  const placements = createCells();
  const days = createCells();
  let user = 0;
  let startMs = Number.MAX_SAFE_INTEGER;

  const addUser = (variantId: string | null, impressions: number, clicks: number, dismissals: number) => {
    const arm = arms.get(variantId) ?? noCounts();
    arms.set(variantId, arm);
    arm.exposed += 1;
    arm.impressions += impressions;
    arm.clicks += clicks;
    arm.dismissals += dismissals;
    if (clicks > 0) arm.clicked += 1;
    if (dismissals > 0) arm.dismissed += 1;
  };

  const countRow = (
    userId: number,
    variantId: string | null,
    impressions: number,
    clicks: number,
    dismissals: number,
    firstMs: number,
    placementId: string,
    type: EventType | null,
    ms: number,
  ) => {
    if (userId !== user) {
      user = userId;
      addUser(variantId, impressions, clicks, dismissals);
      if (firstMs < startMs) startMs = firstMs;
    }
    if (type !== null) {
      placements.add(placementId, variantId, type, userId);
      days.add(localDays.of(ms), variantId, type, userId);
    }
    return 1;
  };

  // The statement above knows what it gives.
  database.function('count_row', countRow as never);
  database.prepare(COUNT).get(workspaceId, campaignId);
  return { arms, placements: placements.all(), days: days.all(), startMs };
};

/** Counts a campaign in one go, which may take seconds: for a thread of its own. */
export const countResults = (
  database: DatabaseSync,
  workspaceId: string,
  question: ResultsQuestion,
): CampaignResults => {
  const { arms, placements, days, startMs } = countRows(database, workspaceId, question);
  const goals = readGoals(
    question.conversions.map((conversion): Row[] =>
      database.prepare(goalStatement(conversion, DIALECT)).all({
        $1: workspaceId,
        $2: question.campaignId,
        $3: goalName(conversion),
        $4: conversion.withinMs,
        $5: startMs,
      }),
    ),
  );
  return {
    arms: [...arms].map(([variantId, counts]) => ({ variantId, ...counts, goals: goals.of(variantId) })),
    placements: placements.map(({ name, variantId, counts }) => ({
      placementId: name,
      variantId,
      ...counts,
    })),
    days: days
      .map(({ name, variantId, counts }) => ({ day: name, variantId, ...counts }))
      .sort((one, other) => (one.day < other.day ? -1 : 1)),
    currencies: goals.currencies,
  };
};
