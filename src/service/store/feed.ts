import { numberIn, type RunSql, textIn } from '../operators/index.ts';
import { type FeedCursor, type ResultsStatements, userChangeIn } from '../results/statements.ts';
import type { Batch } from '../sql/dialect.ts';
import { bannerEventOf, eventOf } from './rows.ts';
import type { Statements } from './statements.ts';
import type { FeedPage, Store } from './store.ts';

interface FeedOptions {
  run: RunSql;
  statements: Statements;
  results: ResultsStatements;
  /** Resolves with how far the feed is settled; `null` if all that is visible is. */
  settle(): Promise<{ through: FeedCursor | null }> | { through: FeedCursor | null };
}

const EVERYTHING: FeedCursor = {
  events: Number.MAX_SAFE_INTEGER,
  bannerEvents: Number.MAX_SAFE_INTEGER,
  userChanges: Number.MAX_SAFE_INTEGER,
};

/** Reads the feed of both databases. */
export const createReadFeed = ({ run, statements, results, settle }: FeedOptions): Store['readFeed'] => {
  const ask = async ({ sql, values }: Batch) => run(sql, values);
  return async (after, limit): Promise<FeedPage> => {
    const through = (await settle()).through ?? EVERYTHING;
    const [eventRows, bannerRows, changeRows] = [
      await ask(statements.feedEvents(after.events, through.events, limit)),
      await ask(statements.feedBannerEvents(after.bannerEvents, through.bannerEvents, limit)),
      await ask(results.userChanges(after.userChanges, limit)),
    ];
    const events = eventRows.map((row) => ({
      eventId: numberIn(row, 'event_id'),
      workspaceId: textIn(row, 'workspace_id'),
      ...eventOf(row),
    }));
    const bannerEvents = bannerRows.map((row) => ({
      bannerEventId: numberIn(row, 'banner_event_id'),
      workspaceId: textIn(row, 'workspace_id'),
      ...bannerEventOf(row),
    }));
    const userChanges = changeRows
      .map(userChangeIn)
      .filter(({ changeId }) => changeId <= through.userChanges);
    return {
      events,
      bannerEvents,
      userChanges,
      next: {
        events: events.at(-1)?.eventId ?? after.events,
        bannerEvents: bannerEvents.at(-1)?.bannerEventId ?? after.bannerEvents,
        userChanges: userChanges.at(-1)?.changeId ?? after.userChanges,
      },
    };
  };
};
