import { getHeapStatistics } from 'node:v8';
import type { NewBannerEvent, StoredEvent } from './events.ts';
import { identifierKeys, type Lookup, lookupKey, profileKeys, type UserIds } from './lookup.ts';
import { completeProfile, type Profile, setUpdated, tallyEvent } from './profile.ts';
import { createUserIndex, type Entry, entryOf, sameNames, type UserIndex } from './user-index.ts';
import { type Changes, noChanges, type UserRow, type UserSet, writtenUser } from './user-set.ts';

/** Users who were read, and the keys of which all users are among them. */
export interface FoundUsers {
  users: Iterable<UserRow>;
  /** What they were found by; nothing where users are not asked for again. */
  named?: Iterable<{ workspaceId: string; key: string; lookup: Lookup }>;
}

/** The user who gets the rows of this one. `null` where the rows are deleted with the user. */
const heirOf = (entry: Entry): Entry | null => {
  let heir = entry;
  while (heir.gone?.into) heir = heir.gone.into;
  return heir.gone ? null : heir;
};

/** Characters of JSON that the users whom a store keeps in memory may have in all. As objects they take a few times as much. */
export const MAX_CHARACTERS = Math.floor(getHeapStatistics().heap_size_limit / 64);
/** A user takes as much memory beside the profile as so many characters of JSON. */
export const USER_CHARACTERS = 200;

const addKeys = (changes: Changes, { row: { userId, workspaceId }, stored, indexed }: Entry) => {
  if (indexed === stored) return;
  // Sets: a user may have thousands of push tokens.
  const before = new Set(profileKeys(stored));
  const after = new Set(profileKeys(indexed));
  for (const key of before) if (!after.has(key)) changes.keysRemoved.push({ workspaceId, key, userId });
  for (const key of after) if (!before.has(key)) changes.keysAdded.push({ workspaceId, key, userId });
};

const addUser = (changes: Changes, entry: Entry) => {
  const { row, indexed, gone } = entry;
  const { userId, workspaceId, version } = row;
  // The group has created and removed this user: the database knows nothing of them.
  if (version === 0 && gone) return;
  addKeys(changes, entry);
  if (!gone) {
    row.externalId = indexed.externalId;
    const written = writtenUser(row);
    row.characters = written.profile?.length ?? 0;
    (version === 0 ? changes.created : changes.updated).push(written);
    return;
  }
  changes.deleted.push({ userId, version: version + 1 });
  const heir = heirOf(entry);
  if (heir) changes.moved.push({ workspaceId, from: userId, to: heir.row.userId });
  else changes.removed.push({ workspaceId, userId, kind: gone.isExpired ? 'expired' : 'erased' });
  changes.erased.push(userId);
};

/**
 * Users in memory, as they were read. `change` lets works find and change them, and answers what is to be written; from then on they
 * are here as they will be stored. Removed users stay, as the database may still have them. Where a work throws, or the changes
 * are not stored, the memory is of no more use.
 */
export const createUserMemory = (ids: UserIds) => {
  const indexes = new Map<string, UserIndex>();
  const touched = new Set<Entry>();
  let events: { entry: Entry; event: StoredEvent }[] = [];
  let bannerEvents: { entry: Entry; event: NewBannerEvent }[] = [];
  let forgotten: Changes['forgotten'] = [];
  let forgottenKeys: Changes['forgottenKeys'] = [];
  const points = new Map<string, Changes['points'][number]>();
  let characters = 0;

  const indexOf = (workspaceId: string): UserIndex => {
    const known = indexes.get(workspaceId);
    if (known) return known;
    const index = createUserIndex();
    indexes.set(workspaceId, index);
    return index;
  };

  const leave = (entry: Entry, into: Entry | null, isExpired = false) => {
    entry.gone = { into, isExpired };
    indexOf(entry.row.workspaceId).rename(entry);
    touched.add(entry);
  };

  const erase = (entry: Entry) => {
    const { row, indexed, stored } = entry;
    for (const names of [stored, indexed])
      for (const key of identifierKeys(row.userId, names))
        forgottenKeys.push({ workspaceId: row.workspaceId, key });
    leave(entry, null);
  };

  const usersOf = (workspaceId: string): UserSet => {
    const index = indexOf(workspaceId);

    const make = (row: Pick<UserRow, 'userId' | 'externalId' | 'profile' | 'createdAtMs'>): Entry => {
      const entry = index.add(
        { ...row, workspaceId, seenAtMs: row.createdAtMs, version: 0, characters: 0 },
        false,
      );
      touched.add(entry);
      return entry;
    };

    const changed = (profile: Profile, nowMs: number) => {
      setUpdated(profile, nowMs);
      const entry = entryOf(profile);
      touched.add(entry);
      if (sameNames(entry.indexed, profile)) return;
      const { externalId } = profile;
      if (externalId !== null && externalId !== entry.indexed.externalId) {
        // A user who had banner events under this external ID, and no profile, becomes this one.
        const bearer = index.bearerOf(externalId);
        if (bearer && !bearer.row.profile) leave(bearer, entry);
      }
      index.rename(entry);
    };

    return {
      find: index.find,
      changed,
      create(fields, nowMs) {
        const bearer = fields.externalId == null ? undefined : index.bearerOf(fields.externalId);
        const bare = bearer && !bearer.row.profile ? bearer : undefined;
        const userId = bare?.row.userId ?? ids.next(nowMs);
        const profile = completeProfile({ ...fields, userId, createdAtMs: nowMs, updatedAtMs: nowMs });
        if (bare) {
          bare.row.profile = profile;
          index.rename(bare);
          touched.add(bare);
        } else make({ userId, externalId: profile.externalId, profile, createdAtMs: nowMs });
        return profile;
      },
      merge(kept, merged, nowMs) {
        const heir = heirOf(entryOf(kept));
        if (!heir || heir === entryOf(merged))
          throw new Error('A user is merged into another one who is there');
        leave(entryOf(merged), heir);
        changed(kept, nowMs);
      },
      remove(profile) {
        const { externalId } = profile;
        erase(entryOf(profile));
        if (externalId !== null) forgotten.push({ workspaceId, externalId });
      },
      forget(externalId) {
        const bearer = index.bearerOf(externalId);
        if (bearer) erase(bearer);
        forgotten.push({ workspaceId, externalId });
        return bearer !== undefined;
      },
      forgetRejects: (lookup) => void forgottenKeys.push({ workspaceId, key: lookupKey(lookup) }),
      record(profile, event) {
        const entry = entryOf(profile);
        touched.add(entry);
        tallyEvent(profile, event);
        events.push({ entry, event });
      },
      recordBannerEvents(externalId, recorded, nowMs, mayMake) {
        const known = index.bearerOf(externalId);
        if (!known && !mayMake) return false;
        const entry =
          known ?? make({ userId: ids.next(nowMs), externalId, profile: null, createdAtMs: nowMs });
        if (known && !known.row.profile) {
          known.row.seenAtMs = Math.max(known.row.seenAtMs, nowMs);
          touched.add(known);
        }
        for (const event of recorded) bannerEvents.push({ entry, event });
        return true;
      },
      expire(externalId, beforeMs) {
        const bearer = index.bearerOf(externalId);
        if (!bearer || bearer.row.profile || bearer.row.seenAtMs >= beforeMs) return;
        leave(bearer, null, true);
      },
      addDataPoints(count, day) {
        const name = `${day} ${workspaceId}`;
        const known = points.get(name);
        if (known) known.points += count;
        else points.set(name, { workspaceId, day, points: count });
      },
    };
  };

  const add = ({ users, named = [] }: FoundUsers) => {
    for (const row of users) {
      const index = indexOf(row.workspaceId);
      // What is known of a user already is newer.
      if (index.has(row.userId)) continue;
      index.add(row, true);
      characters += USER_CHARACTERS + row.characters;
    }
    for (const { workspaceId, key, lookup } of named) {
      if (lookup.by === 'external_id' || lookup.by === 'braze_id') continue;
      indexOf(workspaceId).completed(key);
      characters += USER_CHARACTERS;
    }
  };

  /** What has changed since the last time, after which users are as they will be stored. */
  const takeChanges = (): Changes => {
    const changes = { ...noChanges(), forgotten, forgottenKeys, points: [...points.values()] };
    for (const entry of touched) {
      const { row } = entry;
      const before = row.version === 0 ? -USER_CHARACTERS : row.characters;
      addUser(changes, entry);
      characters += row.characters - before;
      row.version += 1;
      entry.stored = entry.indexed;
    }
    const ofHeirs = <T>(list: readonly { entry: Entry; event: T }[]) =>
      list.flatMap(({ entry, event }) => {
        const heir = heirOf(entry);
        return heir ? [{ workspaceId: heir.row.workspaceId, userId: heir.row.userId, event }] : [];
      });
    changes.events = ofHeirs(events);
    changes.bannerEvents = ofHeirs(bannerEvents);
    touched.clear();
    points.clear();
    [events, bannerEvents, forgotten, forgottenKeys] = [[], [], [], []];
    return changes;
  };

  return {
    /** Adds users who were read, and applies works to the users of their workspaces. */
    change<T>(
      found: FoundUsers,
      apply: (usersOf: (workspaceId: string) => UserSet) => T,
    ): { value: T; changes: Changes } {
      add(found);
      const value = apply(usersOf);
      return { value, changes: takeChanges() };
    },

    /** Whether all users that a lookup names are here already. */
    knows: (workspaceId: string, lookup: Lookup): boolean => indexes.get(workspaceId)?.knows(lookup) ?? false,

    /** Of all profiles here, as JSON, and of what finds them. */
    characters: () => characters,

    /** The users who are there, as they will be stored. */
    rows: (): UserRow[] => [...indexes.values()].flatMap((index) => index.rows()),
  };
};

export type UserMemory = ReturnType<typeof createUserMemory>;
