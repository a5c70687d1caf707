import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { createBrazeIds, serialOf } from '../../users/braze-id.ts';
import { type Attributes, attributesOf, readProfile, writeProfile } from '../../users/profile-text.ts';
import type { Lookup } from '../../users/user-set.ts';
import { packEvents } from '../packed-events.ts';
import type { Store } from '../store.ts';
import { type Changes, createWorkingSet, type Entry } from '../working-set.ts';
import { createBehind } from './behind.ts';
import { claimFile } from './claim.ts';
import { createInlineCommitter, createThreadCommitter } from './commit.ts';
import { createCommitQueue } from './commit-queue.ts';
import { bytesOf } from './group.ts';
import { createRateWindows } from './rate-windows.ts';
import { readingVerbs } from './read-store.ts';
import { createReader, prepareForReading } from './reader.ts';
import { checkVersion, migrate } from './schema.ts';
import { settle } from './unsettled.ts';
import { prepareForWriting } from './writer.ts';

const IN_MEMORY = ':memory:';
/** Profiles that stay in memory after a request; twice as many at most. */
const CACHED_PROFILES = 50_000;

/** When nothing has come for this long, rows that are behind are brought up to date. */
const REST_MS = 500;

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

  let isClosed = false;

  /** The last request, and whether memory must be made anew from the file before the next. */
  let lastRequest = reader.progress().lastRequest;
  let mustReload = true;
  let restTimer: NodeJS.Timeout | null = null;

  const behind = createBehind();
  const set = createWorkingSet({
    newId: createBrazeIds(reader.lastSerial()),
    load: (workspaceId, lookup) => reader.load(workspaceId, lookup, set.weigh),
    capacity: CACHED_PROFILES,
    isPending: (entry) => entry.behindSince > 0 || !queue.isDurable(entry.commit),
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
    const group = queue.group();
    // After a work that failed halfway, memory is not to be trusted.
    for (const entry of mustReload ? [] : behind.due(lastRequest, all)) {
      entry.commit = queue.number();
      const text = writeProfile(entry.profile);
      set.weigh(text.length);
      group.updates.push(text, lastRequest, idOf(entry.profile.brazeId));
    }
    group.progress = { lastRequest, settledRequest: behind.settledRequest(lastRequest) };
  };

  const rest = () => {
    restTimer = null;
    if (isClosed || mustReload || behind.isEmpty()) return;
    if (queue.isBusy()) {
      scheduleRest();
      return;
    }
    catchUp(true);
    // Nobody waits for it; where it fails, memory starts from the file as after any failed group.
    queue.durable().then(rest, () => undefined);
  };
  const scheduleRest = () => {
    restTimer ??= setTimeout(rest, REST_MS).unref();
  };

  const queue = createCommitQueue({
    committer,
    seal: () => catchUp(false),
    // Memory holds what was not stored: it starts from the file again.
    onFailure: () => {
      mustReload = true;
    },
  });

  /** Makes memory say what the file says. Whoever waited must look at `mustReload` again. */
  const reloaded = async (): Promise<void> => {
    await queue.quiet();
    if (mustReload) reload();
  };

  /** The row of a workspace's secret also says that the file holds data of it. */
  const register = (workspaceId: string) => {
    if (secrets.has(workspaceId)) return;
    const secret = reader.secret(workspaceId);
    if (secret === undefined) queue.group().secrets.push(workspaceId, randomBytes(32).toString('hex'));
    else secrets.set(workspaceId, secret);
  };

  const absorb = (workspaceId: string, changes: Changes, nowMs: number) => {
    lastRequest += 1;
    const group = queue.group();
    const noted: [string, Attributes][] = [];
    for (const { entry, change } of changes.entries) {
      const { profile } = entry;
      entry.commit = queue.number();
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
      await queue.durable();
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
        );
      }
      await queue.durable();
    },

    takeRate: async (windows, nowMs) => takeRate(windows, nowMs),

    async secret(workspaceId) {
      const cached = secrets.get(workspaceId);
      if (cached !== undefined) return cached;
      register(workspaceId);
      await queue.durable();
      const secret = reader.secret(workspaceId)!;
      secrets.set(workspaceId, secret);
      return secret;
    },

    async ping() {
      await queue.durable();
    },

    async close() {
      if (isClosed) return;
      isClosed = true;
      if (restTimer) clearTimeout(restTimer);
      await queue.close();
      if (!inMemory) database.close();
      releaseFile();
    },
  };
};
