import { createBrazeIds } from '../../users/braze-id.ts';
import type { Profile } from '../../users/profile.ts';
import { readProfile, writeProfile } from '../../users/profile-text.ts';
import type { Lookup } from '../../users/user-set.ts';
import type { UserWork } from '../store.ts';
import { createWorkingSet } from '../working-set.ts';
import { addChanges, idOf } from './add-changes.ts';
import { type Behind, createBehind } from './behind.ts';
import type { Committer } from './commit.ts';
import { createCommitQueue } from './commit-queue.ts';
import type { Reader } from './reader.ts';

/** Profiles that stay in memory after a request; twice as many at most. */
const CACHED_PROFILES = 50_000;

/** Rows that one group brings up to date, and their characters: an ordinary share, so that no group is a long one. */
const SHARE_ROWS = 400;
const SHARE_CHARACTERS = 512 * 1024;

/** When nothing has come for this long, rows that are behind are brought up to date. */
const REST_MS = 500;

/** A service that ends writes rows that are behind for as long as this; supervisors wait about ten seconds for an end. */
const CLOSE_MS = 5_000;

export interface KeptUsersOptions {
  reader: Reader;
  committer: Committer;
  /** The workspace gets data with the group that is open. */
  register(workspaceId: string): void;
  /** A group was not stored: what memory says beside the users may be wrong as well. */
  onFailure(): void;
  behind?: Behind;
  closeMs?: number;
}

/**
 * Users in memory, where works change them. A request is stored as what it did; the rows of its users follow (see
 * `unsettled.ts`). Where anything fails, memory starts from the file again.
 */
export const createKeptUsers = ({
  reader,
  committer,
  register,
  onFailure,
  behind = createBehind(),
  closeMs = CLOSE_MS,
}: KeptUsersOptions) => {
  /** The last request, and whether memory must be made anew from the file before the next. */
  let lastRequest = reader.progress().lastRequest;
  let mustReload = true;
  let isClosed = false;
  let restTimer: NodeJS.Timeout | null = null;

  const set = createWorkingSet({
    newId: createBrazeIds(reader.lastSerial()),
    load: (workspaceId, lookup) => reader.load(workspaceId, lookup, set.weigh),
    capacity: CACHED_PROFILES,
    isPending: (entry) => entry.behindSince > 0 || !queue.isDurable(entry.commit),
  });

  /** Starts from the file: forgets what is in memory and brings in the users whose rows are behind. */
  const reload = () => {
    set.clear();
    behind.clear();
    lastRequest = reader.progress().lastRequest;
    reader.settled(null, ({ request, characters, users }) => {
      for (const { workspaceId, profile } of users) behind.add(set.bring(workspaceId, profile), request, 0);
      behind.stored(characters);
    });
    mustReload = false;
    scheduleRest();
  };

  /** Adds rows that are behind to the group: the late ones, or as many as fit when there is nothing else to do. */
  const catchUp = (all: boolean) => {
    const group = queue.group();
    let characters = 0;
    for (let rows = 0; ; rows += 1) {
      if (Math.max(rows / SHARE_ROWS, characters / SHARE_CHARACTERS) >= behind.shares(lastRequest)) break;
      // After a work that failed halfway, memory is not to be trusted.
      const entry = mustReload ? undefined : behind.take(lastRequest, all);
      if (!entry) break;
      entry.commit = queue.number();
      const text = writeProfile(entry.profile);
      characters += text.length;
      set.weigh(text.length);
      group.updates.push(text, lastRequest, idOf(entry.profile.brazeId));
    }
    // Nor then what it says of rows: those of a group that failed are not behind for it, and not written either.
    const settledRequest = mustReload ? reader.progress().settledRequest : behind.settledRequest(lastRequest);
    group.progress = { lastRequest, settledRequest };
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
      onFailure();
    },
  });

  /** Brings rows up to date so that the next start has little to read. What cannot be written now, that start reads. */
  const settle = async (): Promise<void> => {
    const until = performance.now() + closeMs;
    while (!mustReload && !behind.isEmpty() && performance.now() < until) {
      catchUp(true);
      await queue.durable().catch(() => undefined);
    }
  };

  /** Makes memory say what the file says. Whoever waited must look at `mustReload` again. */
  const reloaded = async (): Promise<void> => {
    await queue.quiet();
    if (mustReload) reload();
  };

  reload();

  return {
    queue,

    /** Copies, so that nobody changes what is kept. */
    async read(workspaceId: string, lookups: Lookup[]): Promise<Profile[]> {
      while (mustReload) await reloaded();
      return [...set.look(workspaceId, lookups)].map((profile) => readProfile(writeProfile(profile)));
    },

    /** The profile of an external ID, to look at only. */
    recall(workspaceId: string, externalId: string): Readonly<Profile> | undefined {
      // Until somebody writes, every question would read all that rows are behind of.
      if (mustReload && !queue.isBusy()) reload();
      return mustReload
        ? reader.profiles(workspaceId, [{ by: 'external_id', value: externalId }])[0]
        : set.recall(workspaceId, externalId);
    },

    async write<T>({ workspaceId, nowMs, apply }: UserWork<T>): Promise<T> {
      while (mustReload) await reloaded();
      if (isClosed) throw new Error('The store is closed');
      let result: T;
      try {
        result = apply(set.users(workspaceId));
      } catch (error) {
        // What it had changed in memory is not to be trusted; the file has what came before.
        mustReload = true;
        throw error;
      }
      register(workspaceId);
      lastRequest += 1;
      addChanges(
        { request: lastRequest, workspaceId, nowMs, changes: set.take() },
        { group: queue.group(), number: queue.number(), behind, weigh: set.weigh },
      );
      scheduleRest();
      await queue.durable();
      return result;
    },

    async close(): Promise<void> {
      isClosed = true;
      if (restTimer) clearTimeout(restTimer);
      await settle();
      await queue.close();
    },
  };
};
