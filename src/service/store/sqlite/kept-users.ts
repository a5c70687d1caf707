import { createBrazeIds } from '../../profiles/braze-id.ts';
import type { Profile } from '../../profiles/profile.ts';
import type { Lookup } from '../../profiles/user-set.ts';
import type { UserWork } from '../store.ts';
import { createWorkingSet } from '../working-set.ts';
import { addChanges } from './add-changes.ts';
import { type Behind, createBehind } from './behind.ts';
import type { Committer } from './commit.ts';
import { createCommitQueue } from './commit-queue.ts';
import { copyOf, doOnCopies } from './do-on-copies.ts';
import { createFollowingRows } from './following-rows.ts';
import type { Reader } from './reader.ts';

/** Profiles that stay in memory after a request; twice as many at most. */
const CACHED_PROFILES = 50_000;

/** After a failure this many works are stored one by one, on copies: a disk that was full often is so again. */
const CAREFUL_WORKS = 10;

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
  carefulWorks?: number;
}

/**
 * Users in memory, where works change them. A request is stored as what it did; the rows of its users follow (see
 * `unsettled.ts`). Where memory holds what was not stored, it starts from the file again, which reads all that rows
 * are behind of. So that a disk that stays full costs this once, works are done on copies from the first failure on.
 */
export const createKeptUsers = ({
  reader,
  committer,
  register,
  onFailure,
  behind = createBehind(),
  closeMs = CLOSE_MS,
  carefulWorks = CAREFUL_WORKS,
}: KeptUsersOptions) => {
  /** The last request, and whether memory must be made anew from the file before the next. */
  let lastRequest = reader.progress().lastRequest;
  let mustReload = true;
  let isClosed = false;
  /** Works whose changes are in memory and not stored yet, and when the last of them comes to its end. */
  let doing = 0;
  let lastDone: Promise<void> = Promise.resolve();
  /** How many works are yet to be done on copies, and the end of the one that is. */
  let careful = 0;
  let trying: Promise<void> | null = null;

  const newId = createBrazeIds(reader.lastSerial());
  const set = createWorkingSet({
    newId,
    load: (workspaceId, lookup) => reader.load(workspaceId, lookup, set.weigh),
    capacity: CACHED_PROFILES,
    isPending: (entry) => entry.behindSince > 0 || !queue.isDurable(entry.commit),
  });

  /** Starts from the file: forgets what is in memory and brings in the users whose rows are behind. */
  const reload = () => {
    set.clear();
    rows.clear();
    // Never back: a group that is being written may call settled what was counted before it failed.
    lastRequest = Math.max(lastRequest, reader.progress().lastRequest);
    reader.settled(null, ({ request, characters, users }) => {
      for (const { workspaceId, profile } of users) behind.add(set.bring(workspaceId, profile), request, 0);
      behind.stored(characters);
    });
    mustReload = false;
    rows.followSoon();
  };

  const rows = createFollowingRows({
    behind,
    queue: () => queue,
    lastRequest: () => lastRequest,
    // After a work that failed halfway, memory is not to be trusted; one that is tried out has rows in the group itself.
    mayFollow: () => !mustReload && trying === null,
    // Nor then what it says of rows: those of a group that failed are not behind for it, and not written either.
    settledRequest: () =>
      mustReload ? reader.progress().settledRequest : behind.settledRequest(lastRequest),
    weigh: set.weigh,
  });

  const queue = createCommitQueue({
    committer,
    seal: rows.seal,
    onFailure: () => {
      if (doing > 0) mustReload = true;
      else rows.putBack();
      careful = carefulWorks;
      onFailure();
    },
  });

  /** Makes memory say what the file says. Whoever waited must look at `mustReload` again. */
  const reloaded = async (): Promise<void> => {
    await lastDone;
    if (mustReload && doing === 0) reload();
  };

  /** Stores a work that memory learns of only then. */
  const writeCarefully = async <T>({ workspaceId, nowMs, apply }: UserWork<T>): Promise<T> => {
    const { result, changes } = doOnCopies(workspaceId, apply, { newId, look: set.look });
    register(workspaceId);
    lastRequest += 1;
    let characters = 0;
    const note = {
      add: () => undefined,
      stored(weight: number) {
        characters = weight;
      },
    };
    addChanges(
      { request: lastRequest, workspaceId, nowMs, changes },
      { group: queue.group(), number: queue.number(), behind: note, weigh: set.weigh },
    );
    const end = Promise.withResolvers<void>();
    // There may be nobody who waits.
    end.promise.catch(() => undefined);
    trying = end.promise;
    try {
      await queue.durable();
      behind.stored(characters);
      set.adopt(workspaceId, changes);
      careful -= 1;
      trying = null;
      end.resolve();
    } catch (error) {
      trying = null;
      // Those who wait fail with it, as those of a group do: a commit may take seconds to fail, each after the other.
      end.reject(error);
      throw error;
    }
    return result;
  };

  reload();

  return {
    queue,

    /** Copies, so that nobody changes what is kept. */
    async read(workspaceId: string, lookups: Lookup[]): Promise<Profile[]> {
      while (mustReload) await reloaded();
      return [...set.look(workspaceId, lookups)].map(copyOf);
    },

    /** The profile of an external ID, to look at only. */
    async recall(workspaceId: string, externalId: string): Promise<Readonly<Profile> | undefined> {
      while (mustReload) await reloaded();
      return set.recall(workspaceId, externalId);
    },

    async write<T>(work: UserWork<T>): Promise<T> {
      while (mustReload || trying !== null) await (trying ?? reloaded());
      if (isClosed) throw new Error('The store is closed');
      if (careful > 0) return writeCarefully(work);
      const { workspaceId, nowMs, apply } = work;
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
      rows.followSoon();
      doing += 1;
      const stored = queue.durable();
      const done = () => {
        doing -= 1;
      };
      lastDone = stored.then(done, done);
      await stored;
      return result;
    },

    async close(): Promise<void> {
      isClosed = true;
      await rows.settle(closeMs);
      await queue.close();
    },
  };
};
