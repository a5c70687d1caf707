import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { createBrazeIds, serialOf } from '../../users/braze-id.ts';
import { type Attributes, attributesOf, readProfile, writeProfile } from '../../users/profile-text.ts';
import type { Lookup } from '../../users/user-set.ts';
import { packEvents } from '../packed-events.ts';
import type { Store, StoreReader } from '../store.ts';
import { type Changes, createWorkingSet, type Entry } from '../working-set.ts';
import { createBehind } from './behind.ts';
import { claimFile } from './claim.ts';
import { createInlineCommitter, createThreadCommitter } from './commit.ts';
import { bytesOf, createGroup } from './group.ts';
import { createRateWindows } from './rate-windows.ts';
import { createReader, prepareForReading, type Reader } from './reader.ts';
import { checkVersion, migrate, SQLITE_VERSION } from './schema.ts';
import { settle } from './unsettled.ts';
import { prepareForWriting } from './writer.ts';

const IN_MEMORY = ':memory:';
/** Profiles that stay in memory after a request; twice as many at most. */
const CACHED_PROFILES = 50_000;

/** When nothing has come for this long, rows that are behind are brought up to date. */
const REST_MS = 500;

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
 * writer's thread, one group at a time; all that came while a group was being written makes the next one. A request
 * is stored as what it did; the rows of its users follow (see `unsettled.ts`).
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

  /** The last request, and whether memory must be made anew from the file before the next. */
  let lastRequest = reader.progress().lastRequest;
  let mustReload = true;
  let restTimer: NodeJS.Timeout | null = null;

  const behind = createBehind();
  const set = createWorkingSet({
    newId: createBrazeIds(reader.lastSerial()),
    load: (workspaceId, lookup) => reader.load(workspaceId, lookup, set.weigh),
    capacity: CACHED_PROFILES,
    isPending: (entry) => entry.behindSince > 0 || entry.commit > durableNumber,
  });

  const idOf = (brazeId: string): number => serialOf(brazeId)!;

  /** Starts from the file: forgets what is in memory and brings in the users whose rows are behind. */
  const reload = () => {
    set.clear();
    behind.clear();
    lastRequest = reader.progress().lastRequest;
    const rows = new Map<string, { entry: Entry; version: number } | null>();
    for (const change of reader.unsettled()) {
      const { workspaceId, brazeId, request } = change;
      let row = rows.get(brazeId);
      if (row === undefined) {
        const [profile] = reader.load(workspaceId, { by: 'braze_id', value: brazeId });
        row = profile
          ? { entry: set.bring(workspaceId, profile), version: reader.versionOf(brazeId) ?? 0 }
          : null;
        rows.set(brazeId, row);
      }
      if (row === null || row.version >= request) continue;
      settle(row.entry.profile, change);
      behind.add(row.entry, request);
    }
    mustReload = false;
  };

  /** Adds rows that are behind to the group: the late ones, or as many as fit when there is nothing else to do. */
  const catchUp = (all: boolean) => {
    // After a work that failed halfway, memory is not to be trusted.
    for (const entry of mustReload ? [] : behind.due(lastRequest, all)) {
      entry.commit = openNumber;
      const text = writeProfile(entry.profile);
      set.weigh(text.length);
      group.updates.push(text, lastRequest, idOf(entry.profile.brazeId));
    }
    group.progress = { lastRequest, settledRequest: behind.settledRequest(lastRequest) };
  };

  const rest = () => {
    restTimer = null;
    if (isClosed || mustReload || behind.isEmpty()) return;
    if (isWriting || waiters.length > 0) {
      scheduleRest();
      return;
    }
    catchUp(true);
    // Nobody waits for it; where it fails, memory starts from the file as after any failed group.
    durable().then(rest, () => undefined);
  };
  const scheduleRest = () => {
    restTimer ??= setTimeout(rest, REST_MS).unref();
  };

  const flush = async () => {
    isScheduled = false;
    if (isWriting || waiters.length === 0) return;
    isWriting = true;
    catchUp(false);
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
      mustReload = true;
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

  /** Resolves when nothing is being written or waits to be. */
  const quiet = async (): Promise<void> => {
    while (isWriting || waiters.length > 0) {
      await new Promise<void>((resolve) => {
        const before = idle;
        idle = () => {
          idle = null;
          before?.();
          resolve();
        };
      });
    }
  };

  /** Makes memory say what the file says. Whoever waited must look at `mustReload` again. */
  const reloaded = async (): Promise<void> => {
    await quiet();
    if (mustReload) reload();
  };

  /** The row of a workspace's secret also says that the file holds data of it. */
  const register = (workspaceId: string) => {
    if (secrets.has(workspaceId)) return;
    const secret = reader.secret(workspaceId);
    if (secret === undefined) group.secrets.push(workspaceId, randomBytes(32).toString('hex'));
    else secrets.set(workspaceId, secret);
  };

  const absorb = (workspaceId: string, changes: Changes, nowMs: number) => {
    lastRequest += 1;
    const noted: [string, Attributes][] = [];
    for (const { entry, change } of changes.entries) {
      const { profile } = entry;
      entry.commit = openNumber;
      if (change === 'recorded' || change === 'attributes') {
        if (change === 'attributes') noted.push([profile.brazeId, attributesOf(profile)]);
        behind.add(entry, lastRequest);
        continue;
      }
      // Made, renamed, merged or removed: rare enough for the row to be written at once.
      entry.behindSince = 0;
      if (change === 'removed') {
        if (!entry.isNew) group.deletes.push(idOf(profile.brazeId));
        continue;
      }
      const text = writeProfile(profile);
      set.weigh(text.length);
      if (entry.isNew) group.inserts.push(idOf(profile.brazeId), workspaceId, text, lastRequest);
      else group.updates.push(text, lastRequest, idOf(profile.brazeId));
      entry.isNew = false;
    }
    for (const { entry, key } of changes.keysRemoved) {
      group.keys.push(workspaceId, key, idOf(entry.profile.brazeId), 0);
    }
    for (const { entry, key } of changes.keysAdded) {
      group.keys.push(workspaceId, key, idOf(entry.profile.brazeId), 1);
    }
    if (noted.length > 0) {
      const text = JSON.stringify(noted);
      // Large attributes of one user, not many users: those are counted already.
      set.weigh(text.length / noted.length);
      group.journal.push(lastRequest, workspaceId, bytesOf(group, text));
    }
    if (changes.events.length > 0) {
      let newest = 0;
      for (const { timeMs } of changes.events) if (timeMs > newest) newest = timeMs;
      group.events.push(lastRequest, workspaceId, nowMs, newest, bytesOf(group, packEvents(changes.events)));
    }
    for (const { day, count } of changes.points) group.points.push(workspaceId, day, count);
    scheduleRest();
  };

  reload();

  return {
    kind: 'sqlite',
    ...readingVerbs(reader),

    async readUsers(workspaceId, lookups) {
      while (mustReload) await reloaded();
      const users = set.users(workspaceId);
      const found = new Set(lookups.flatMap((lookup) => users.find(lookup)));
      return [...found].map((profile) => readProfile(writeProfile(profile)));
    },

    async writeUsers(work) {
      while (mustReload) await reloaded();
      if (isClosed) throw new Error('The store is closed');
      let result: ReturnType<typeof work.apply>;
      try {
        result = work.apply(set.users(work.workspaceId));
      } catch (error) {
        // What it had changed in memory is not to be trusted; the file has what came before.
        mustReload = true;
        throw error;
      }
      register(work.workspaceId);
      absorb(work.workspaceId, set.take(), work.nowMs);
      await durable();
      return result;
    },

    async bannerUser(workspaceId, externalUserId) {
      const known = mustReload ? undefined : set.peek(workspaceId, externalUserId);
      const lookup: Lookup = { by: 'external_id', value: externalUserId };
      const [profile] = known
        ? [known]
        : mustReload
          ? reader.profiles(workspaceId, [lookup])
          : reader.load(workspaceId, lookup);
      return { profile: profile ?? null, dismissals: reader.dismissals(workspaceId, externalUserId) };
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
      await durable();
    },

    async close() {
      if (isClosed) return;
      isClosed = true;
      if (restTimer) clearTimeout(restTimer);
      await quiet();
      await committer.close();
      if (!inMemory) database.close();
      releaseFile();
    },
  };
};
