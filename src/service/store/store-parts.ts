import { createIngestionStore } from '../integrations/ingestion-store.ts';
import type { RunSql, RunTogether } from '../sql/row-readers.ts';
import { createWebhookStore } from '../webhooks/webhook-store.ts';
import { createFeed, type FeedOptions } from './feed.ts';
import { createFindExpiredStubs, createPrune, type PruneOptions } from './prune.ts';
import { createStudioStore } from './studio-store.ts';

interface StorePartsOptions extends FeedOptions, PruneOptions {
  run: RunSql;
  /** Runs statements that only read. */
  runRead: RunSql;
  runTogether: RunTogether;
}

/** Creates the parts of a store that a running service and the commands beside it share, for both databases. */
export const createStoreParts = (options: StorePartsOptions) => ({
  studio: createStudioStore(options.run, options.runTogether),
  ingestion: createIngestionStore(options.run),
  webhooks: createWebhookStore(options.run),
  prune: createPrune(options),
  expiredStubUsers: createFindExpiredStubs(options.runRead, options.dialect),
  ...createFeed(options),
});
