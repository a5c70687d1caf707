import { mapKeys } from '../../protocol/index.ts';
import { isHoldoutId } from '../profiles/holdout-id.ts';
import type { StableFeed } from '../results/consumer.ts';
import {
  createGoalIndex,
  type GoalCandidate,
  isInWindow,
  toCandidateOfFeed,
  toGoal,
  toGoalCandidate,
} from '../results/goals.ts';
import type { ResultsStatements } from '../results/statements.ts';
import type { BulkStatement, Send } from '../sql/dialect.ts';
import { FEED_NAMES, toPositions } from '../sql/feed.ts';
import type { SqlRow } from '../sql/row-readers.ts';
import { USER_CAMPAIGNS, USER_CHANGES } from '../sql/user-tables.ts';
import { toBannerEventRow, toEventRow } from './rows.ts';
import type { Statements } from './statements.ts';
import type { Feed, FeedPage } from './store.ts';

export interface FeedOptions {
  send: Send<SqlRow[] | Promise<SqlRow[]>>;
  statements: Statements;
  results: ResultsStatements;
  /** Updates the index of events by user. */
  indexUserEvents(): Promise<void>;
  /** Returns the cursor up to which the feed is stable. */
  readStableFeed(): Promise<Pick<StableFeed, 'through'>>;
}

/** Creates a reader of the feed for both databases. */
export const createFeed = ({
  send,
  statements,
  results,
  indexUserEvents,
  readStableFeed,
}: FeedOptions): Feed => {
  const sendStatement = async (statement: BulkStatement) => send(statement);

  const readFeed: Feed['readFeed'] = async (after, limit) => {
    const { through } = await readStableFeed();
    const [eventRows, bannerRows, changeRows] = [
      await sendStatement(statements.feedEvents(after.events, through.events, limit)),
      await sendStatement(statements.feedBannerEvents(after.bannerEvents, through.bannerEvents, limit)),
      await sendStatement(results.userChanges(after.userChanges, limit)),
    ];
    const events = eventRows.map(toEventRow);
    const bannerEvents = bannerRows.map(toBannerEventRow);
    const userChanges = changeRows
      .map(USER_CHANGES.read)
      .filter(({ changeId }) => changeId <= through.userChanges);
    const page = { events, bannerEvents, userChanges };
    const positions = toPositions(page);
    return { ...page, next: mapKeys(FEED_NAMES, (name) => positions[name].at(-1)?.id ?? after[name]) };
  };

  /** Returns earlier events of users whose first impression is in the page. */
  const readEarlier = async (
    { bannerEvents, next }: FeedPage,
    values: readonly string[],
  ): Promise<GoalCandidate[]> => {
    const since = new Map<number, number>();
    for (const { userId, isFirstOfType, isTestSend, eventType, timeMs, receivedAtMs } of bannerEvents) {
      if (eventType !== 'impression' || !isFirstOfType || isTestSend) continue;
      since.set(userId, Math.min(since.get(userId) ?? timeMs, timeMs, receivedAtMs));
    }
    if (since.size === 0) return [];
    await indexUserEvents();
    const users = [...since].map(([userId, sinceMs]) => ({ userId, sinceMs }));
    return (await sendStatement(results.goalCandidatesOf(users, values, next.events))).map(toGoalCandidate);
  };

  const readConversions: Feed['readConversions'] = async (page) => {
    // The comparison group of a holdout is the users who saw any campaign, and no row contains that group.
    const goals = (await sendStatement(results.goals()))
      .map(toGoal)
      .filter(({ campaignId }) => !isHoldoutId(campaignId));
    const goalsByName = Map.groupBy(goals, ({ workspaceId, name }) => JSON.stringify([workspaceId, name]));
    const getGoals = ({ workspaceId, name }: GoalCandidate) =>
      goalsByName.get(JSON.stringify([workspaceId, name])) ?? [];
    if (goals.length === 0) return [];
    const found = [
      ...page.events.map(toCandidateOfFeed),
      ...(await readEarlier(page, createGoalIndex(goals).values)),
    ].filter((event) => getGoals(event).length > 0);
    const events = [...new Map(found.map((event) => [event.eventId, event])).values()];
    if (events.length === 0) return [];

    const externalIds = new Map(
      [...page.events, ...page.bannerEvents].map(({ userId, externalId }) => [userId, externalId]),
    );
    const users = [...new Set(events.map(({ userId }) => userId))];
    const campaigns = [...new Set(events.flatMap(getGoals).map(({ campaignId }) => campaignId))];
    const userCampaigns = (await sendStatement(statements.findUserCampaignsByCampaign(users, campaigns))).map(
      USER_CAMPAIGNS.read,
    );
    const userCampaignsByUserId = Map.groupBy(userCampaigns, ({ userId }) => userId);
    return events.flatMap((event) =>
      getGoals(event).flatMap(({ campaignId, goal, withinMs }) => {
        const userCampaign = userCampaignsByUserId
          .get(event.userId)
          ?.find((each) => each.campaignId === campaignId);
        const firstMs = userCampaign?.firstImpressionMs ?? null;
        if (!userCampaign || firstMs === null) return [];
        if (!isInWindow(event.timeMs, firstMs, withinMs)) return [];
        const { eventId, workspaceId, userId, timeMs, revenue, currency } = event;
        const externalId = externalIds.get(userId) ?? null;
        const { variantId } = userCampaign;
        const row = { eventId, workspaceId, userId, externalId, campaignId, variantId };
        return [{ ...row, goal, timeMs, revenue, currency }];
      }),
    );
  };

  return {
    readFeed,
    readConversions,
    feedEnd: async () => (await readStableFeed()).through,
  };
};
