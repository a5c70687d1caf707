import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Store } from '../store.ts';
import { createStudioStore } from '../studio/create-studio-store.ts';
import { createRunSqlite } from '../studio/run-sqlite.ts';
import { checkLog } from './check-log.ts';
import { claimFile } from './claim.ts';
import { type Committer, createInlineCommitter, createThreadCommitter } from './commit.ts';
import { createKeptUsers } from './kept-users.ts';
import { createKnownDismissals } from './known-dismissals.ts';
import { createRateWindows } from './rate-windows.ts';
import { readingVerbs } from './read-store.ts';
import { createReader, prepareForReading } from './reader.ts';
import { checkVersion, migrate } from './schema.ts';
import { createSecrets } from './secrets.ts';
import { prepareForWriting } from './writer.ts';

const IN_MEMORY = ':memory:';

/** Gives back a part of what the store holds open. */
type Release = () => void | Promise<void>;

/** The latest first: the claim goes once nothing of this process is on the file any more. */
const releaseAll = async (held: Release[]): Promise<void> => {
  for (const release of held.splice(0).reverse()) await release();
};

/**
 * The embedded store. One process owns the file: it works on profiles in memory and hands what has changed to the
 * writer's thread, one group at a time; all that came while a group was being written makes the next one. Where it
 * cannot be opened, nothing of it stays: a thread that went on would keep the process, and the claim on the file.
 */
export const openSqliteStore = async (file: string): Promise<Store> => {
  const held: Release[] = [];
  try {
    return await open(file, held);
  } catch (error) {
    await releaseAll(held);
    throw error;
  }
};

const open = async (file: string, held: Release[]): Promise<Store> => {
  const inMemory = file === IN_MEMORY;
  if (!inMemory) {
    held.push(claimFile(file));
    checkLog(file);
  }
  let fileDescriptor: number | null = null;
  held.push(() => {
    if (fileDescriptor !== null) closeSync(fileDescriptor);
  });
  const database = new DatabaseSync(file);
  // A database in memory is its committer's.
  if (!inMemory) held.push(() => database.close());
  checkVersion(database, file);
  prepareForWriting(database);
  migrate(database, file);
  prepareForReading(database);
  const reader = createReader(database);
  let committer: Committer;
  if (inMemory) committer = createInlineCommitter(database);
  else {
    fileDescriptor = openSync(file, 'r+');
    committer = await createThreadCommitter({ file, fileDescriptor });
    held.push(committer.close);
  }
  const takeRate = createRateWindows();
  const dismissals = createKnownDismissals(reader.dismissals);
  const users = createKeptUsers({
    reader,
    committer,
    register: (workspaceId) => secrets.register(workspaceId),
    onFailure: dismissals.clear,
  });
  const { queue } = users;
  const secrets = createSecrets(reader, queue);
  let isClosed = false;

  return {
    kind: 'sqlite',
    ...readingVerbs(reader),
    readUsers: users.read,
    writeUsers: users.write,
    secret: secrets.of,
    onCommit: queue.onCommit,

    async bannerUser(workspaceId, externalUserId) {
      return {
        profile: (await users.recall(workspaceId, externalUserId)) ?? null,
        dismissals: dismissals.of(workspaceId, externalUserId),
      };
    },

    async recordBannerEvents(workspaceId, events) {
      if (events.length === 0) return;
      secrets.register(workspaceId);
      const { bannerEvents } = queue.group();
      for (const event of events) {
        bannerEvents.push(
          workspaceId,
          event.externalUserId,
          event.bannerId,
          event.eventType,
          event.timestampMs,
          event.appId,
          event.campaignId,
          event.variantId,
          event.placementId,
          event.isControl ? 1 : 0,
          event.isTestSend ? 1 : 0,
          event.timestamp,
          event.receivedAtMs,
          event.round,
        );
      }
      try {
        await queue.durable();
      } finally {
        for (const { externalUserId, eventType } of events) {
          if (eventType === 'dismiss') dismissals.forget(workspaceId, externalUserId);
        }
      }
    },

    takeRate: async (windows, nowMs) => takeRate(windows, nowMs),
    studio: createStudioStore(createRunSqlite(database)),

    ping: queue.answered,

    async close() {
      if (isClosed) return;
      isClosed = true;
      await users.close();
      await releaseAll(held);
    },
  };
};
