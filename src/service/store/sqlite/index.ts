import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { createBrazeIds, serialOf } from '../../users/braze-id.ts';
import { readProfile } from '../../users/profile-text.ts';
import { packEvents } from '../packed-events.ts';
import type { Store, StoreReader } from '../store.ts';
import { type Changes, createWorkingSet, type Entry } from '../working-set.ts';
import { claimFile } from './claim.ts';
import { createInlineCommitter, createThreadCommitter } from './commit.ts';
import { createGroup } from './group.ts';
import { createRateWindows } from './rate-windows.ts';
import { createReader, prepareForReading, type Reader } from './reader.ts';
import { checkVersion, migrate, SQLITE_VERSION } from './schema.ts';
import { prepareForWriting } from './writer.ts';

const IN_MEMORY = ':memory:';
/** Profiles that stay in memory after a request; twice as many at most. */
const CACHED_PROFILES = 50_000;

interface Waiter {
  resolve(): void;
  reject(error: unknown): void;
}

/** Opens a file for reading beside the service that writes it. */
export const openSqliteReader = (file: string): StoreReader => {
  const database = new DatabaseSync(file, { readOnly: true });
  prepareForReading(database);
  if (checkVersion(database, file) < SQLITE_VERSION) {
    database.close();
    throw new Error(`${file} is of an older Placard: start the service once, which brings it forward`);
  }
  const reader = createReader(database);
  return { ...readingVerbs(reader), close: async () => database.close() };
};

const readingVerbs = (reader: Reader): Omit<StoreReader, 'close'> => ({
  workspaceIds: async () => reader.workspaceIds(),
  readUsers: async (workspaceId, lookups) => reader.profiles(workspaceId, lookups),
  dataPoints: reader.dataPoints,
  exportUsers: reader.users,
  exportEvents: reader.events,
  exportBannerEvents: reader.bannerEvents,
});

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
  const committer = inMemory ? createInlineCommitter(database) : await createThreadCommitter(file);
  const takeRate = createRateWindows();
  const secrets = new Map<string, string>();

  /** The group that is open, by number, and the last one that is durable. */
  let openNumber = 1;
  let durableNumber = 0;
  let group = createGroup();
  let waiters: Waiter[] = [];
  let isWriting = false;
  let isScheduled = false;
  let isClosed = false;
  let idle: (() => void) | null = null;

  const set = createWorkingSet({
    newId: createBrazeIds(reader.lastSerial()),
    load: reader.load,
    capacity: CACHED_PROFILES,
    isPending: (entry) => entry.commit > durableNumber,
  });

  const flush = async () => {
    isScheduled = false;
    if (isWriting || waiters.length === 0) return;
    isWriting = true;
    const writing = { group, waiters, number: openNumber };
    group = createGroup();
    waiters = [];
    openNumber += 1;
    try {
      await committer.commit(writing.group);
      durableNumber = writing.number;
      for (const waiter of writing.waiters) waiter.resolve();
    } catch (error) {
      // Whatever was done since stands on what was not stored: it fails with it, and memory starts from the file.
      const failed = [...writing.waiters, ...waiters];
      group = createGroup();
      waiters = [];
      set.clear();
      for (const waiter of failed) waiter.reject(error);
    }
    isWriting = false;
    if (waiters.length > 0) void flush();
    else idle?.();
  };

  const durable = (): Promise<void> => {
    if (isClosed) return Promise.reject(new Error('The store is closed'));
    const promise = new Promise<void>((resolve, reject) => waiters.push({ resolve, reject }));
    if (!isWriting && !isScheduled) {
      isScheduled = true;
      // Requests that arrived in the same turn join the group.
      setImmediate(() => void flush());
    }
    return promise;
  };

  /** The row of a workspace's secret also says that the file holds data of it. */
  const register = (workspaceId: string) => {
    if (secrets.has(workspaceId)) return;
    const secret = reader.secret(workspaceId);
    if (secret === undefined) group.secrets.push(workspaceId, randomBytes(32).toString('hex'));
    else secrets.set(workspaceId, secret);
  };

  const idOf = (entry: Entry): number => serialOf(entry.profile.brazeId)!;

  const absorb = (workspaceId: string, changes: Changes, nowMs: number) => {
    for (const { entry, isNew } of changes.saved) {
      if (entry.commit === openNumber) {
        const list = entry.isNew ? group.inserts : group.updates;
        list[entry.slot] = entry.text;
        continue;
      }
      entry.commit = openNumber;
      entry.isNew = isNew;
      if (isNew) {
        entry.slot = group.inserts.push(idOf(entry), workspaceId, entry.text) - 1;
      } else {
        entry.slot = group.updates.push(entry.text, idOf(entry)) - 2;
      }
    }
    for (const entry of changes.removed) {
      entry.commit = openNumber;
      group.deletes.push(idOf(entry));
    }
    for (const { entry, key } of changes.keysRemoved) group.keys.push(workspaceId, key, idOf(entry), 0);
    for (const { entry, key } of changes.keysAdded) group.keys.push(workspaceId, key, idOf(entry), 1);
    if (changes.events.length > 0) {
      let newest = 0;
      for (const { timeMs } of changes.events) if (timeMs > newest) newest = timeMs;
      group.events.push(workspaceId, nowMs, newest, packEvents(changes.events));
    }
    for (const { day, count } of changes.points) group.points.push(workspaceId, day, count);
  };

  return {
    kind: 'sqlite',
    ...readingVerbs(reader),

    async writeUsers(work) {
      if (isClosed) throw new Error('The store is closed');
      let result: ReturnType<typeof work.apply>;
      try {
        result = work.apply(set.users(work.workspaceId));
      } catch (error) {
        set.undo();
        throw error;
      }
      register(work.workspaceId);
      absorb(work.workspaceId, set.take(), work.nowMs);
      await durable();
      return result;
    },

    async bannerUser(workspaceId, externalUserId) {
      const [stored] = reader.load(workspaceId, { by: 'external_id', value: externalUserId });
      return {
        profile: stored === undefined ? null : readProfile(stored),
        dismissals: reader.dismissals(workspaceId, externalUserId),
      };
    },

    async recordBannerEvents(workspaceId, events) {
      if (events.length === 0) return;
      register(workspaceId);
      for (const event of events) {
        group.bannerEvents.push(
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
        );
      }
      await durable();
    },

    takeRate: async (windows, nowMs) => takeRate(windows, nowMs),

    async secret(workspaceId) {
      const cached = secrets.get(workspaceId);
      if (cached !== undefined) return cached;
      register(workspaceId);
      await durable();
      const secret = reader.secret(workspaceId)!;
      secrets.set(workspaceId, secret);
      return secret;
    },

    async ping() {
      group.heartbeats = [Date.now()];
      await durable();
    },

    async close() {
      if (isClosed) return;
      isClosed = true;
      if (isWriting || waiters.length > 0) {
        await new Promise<void>((resolve) => {
          idle = resolve;
        });
      }
      await committer.close();
      if (!inMemory) database.close();
      releaseFile();
    },
  };
};
