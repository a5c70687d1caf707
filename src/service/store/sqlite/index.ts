import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Store } from '../store.ts';
import { claimFile } from './claim.ts';
import { createInlineCommitter, createThreadCommitter } from './commit.ts';
import { createKeptUsers } from './kept-users.ts';
import { createKnownDismissals } from './known-dismissals.ts';
import { createRateWindows } from './rate-windows.ts';
import { readingVerbs } from './read-store.ts';
import { createReader, prepareForReading } from './reader.ts';
import { checkVersion, migrate } from './schema.ts';
import { createSecrets } from './secrets.ts';
import { prepareForWriting } from './writer.ts';

const IN_MEMORY = ':memory:';

/**
 * The embedded store. One process owns the file: it works on profiles in memory and hands what has changed to the
 * writer's thread, one group at a time; all that came while a group was being written makes the next one.
 */
export const openSqliteStore = async (file: string): Promise<Store> => {
  const inMemory = file === IN_MEMORY;
  const releaseFile = inMemory ? () => undefined : claimFile(file);
  const database = new DatabaseSync(file);
  try {
    checkVersion(database, file);
    prepareForWriting(database);
    migrate(database, file);
    prepareForReading(database);
  } catch (error) {
    database.close();
    releaseFile();
    throw error;
  }
  const reader = createReader(database);
  const fileDescriptor = inMemory ? null : openSync(file, 'r+');
  const committer =
    fileDescriptor === null
      ? createInlineCommitter(database)
      : await createThreadCommitter({ file, fileDescriptor });
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
        profile: users.recall(workspaceId, externalUserId) ?? null,
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

    async ping() {
      await queue.durable();
    },

    async close() {
      if (isClosed) return;
      isClosed = true;
      await users.close();
      if (!inMemory) database.close();
      if (fileDescriptor !== null) closeSync(fileDescriptor);
      releaseFile();
    },
  };
};
