import { createBrazeIds } from '../../users/braze-id.ts';
import type { Profile } from '../../users/profile.ts';
import { writeProfile } from '../../users/profile-text.ts';
import type { Lookup } from '../../users/user-set.ts';
import type { Entry } from '../entry.ts';
import type { UserWork } from '../store.ts';
import { createWorkingSet } from '../working-set.ts';
import { addChanges, idOf } from './add-changes.ts';
import { type Behind, createBehind } from './behind.ts';
import type { Committer } from './commit.ts';
import { createCommitQueue } from './commit-queue.ts';
import { copyOf, doOnCopies } from './do-on-copies.ts';
import type { Reader } from './reader.ts';

/** Profiles that stay in memory after a request; twice as many at most. */
const CACHED_PROFILES = 50_000;

/** Rows that one group brings up to date, and their characters: an ordinary share, so that no group is a long one. */
const SHARE_ROWS = 400;
const SHARE_CHARACTERS = 512 * 1024;

/** When nothing has come for this long, rows that are behind are brought up to date. */
const REST_MS = 500;

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
  let restTimer: NodeJS.Timeout | null = null;
  /** Works whose changes are in memory and not stored yet, and when the last of them comes to its end. */
  let doing = 0;
  let lastDone: Promise<void> = Promise.resolve();
  /** How many works are yet to be done on copies, and the end of the one that is. */
  let careful = 0;
  let trying: Promise<void> | null = null;
  /** Rows that groups bring up to date, until these are stored. */
  let underWay: { entry: Entry; number: number }[] = [];

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
    behind.clear();
    underWay = [];
    // Never back: a group that is being written may call settled what was counted before it failed.
    lastRequest = Math.max(lastRequest, reader.progress().lastRequest);
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
    underWay = underWay.filter(({ number }) => !queue.isDurable(number));
    // After a work that failed halfway, memory is not to be trusted; one that is tried out has rows in the group itself.
    const isSound = !mustReload && trying === null;
    let characters = 0;
    for (let rows = 0; ; rows += 1) {
      if (Math.max(rows / SHARE_ROWS, characters / SHARE_CHARACTERS) >= behind.shares(lastRequest)) break;
      const entry = isSound ? behind.take(lastRequest, all) : undefined;
      if (!entry) break;
      entry.commit = queue.number();
      underWay.push({ entry, number: queue.number() });
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
    // Nobody waits for it; where it fails, the rows are behind as before.
    queue.durable().then(rest, scheduleRest);
  };
  const scheduleRest = () => {
    restTimer ??= setTimeout(rest, REST_MS).unref();
  };

  const queue = createCommitQueue({
    committer,
    seal: () => catchUp(false),
    onFailure: () => {
      if (doing > 0) mustReload = true;
      else
        behind.putBack(underWay.filter(({ number }) => !queue.isDurable(number)).map(({ entry }) => entry));
      underWay = [];
      careful = carefulWorks;
      onFailure();
    },
  });

  /** Brings rows up to date so that the next start has little to read. What cannot be written now, that start reads. */
  const settle = async (): Promise<void> => {
    const until = performance.now() + closeMs;
    while (!mustReload && !behind.isEmpty() && performance.now() < until) {
      catchUp(true);
      const isStored = await queue.durable().then(
        () => true,
        () => false,
      );
      if (!isStored) return;
    }
  };

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
    trying = end.promise;
    try {
      await queue.durable();
      behind.stored(characters);
      set.adopt(workspaceId, changes);
      careful -= 1;
    } finally {
      trying = null;
      end.resolve();
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
      scheduleRest();
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
      if (restTimer) clearTimeout(restTimer);
      await settle();
      await queue.close();
    },
  };
};
