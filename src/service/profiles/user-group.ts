import { type Changes, noChanges, type UserRow, writtenUser } from './changes.ts';
import type { NewBannerEvent, StoredEvent } from './events.ts';
import { completeProfile, type Profile, tallyEvent } from './profile.ts';
import type { UserIds } from './user-id.ts';
import { createUserIndex, type Entry, entryOf, sameNames, type UserIndex } from './user-index.ts';
import { profileKeys } from './user-key.ts';
import type { Lookup, UserSet } from './user-set.ts';

/** The user who has the rows of another in the end: `null` where they go with the user. */
const heirOf = (entry: Entry): Entry | null => {
  let heir = entry;
  while (heir.mergedInto) heir = heir.mergedInto;
  return heir.isRemoved ? null : heir;
};

/** What a user takes beside the profile is as much memory as so many characters of one. */
const ENTRY_CHARACTERS = 200;

const addKeys = (changes: Changes, { userId, workspaceId, stored, indexed }: Entry) => {
  if (indexed === stored) return;
  // Sets: a user may have thousands of push tokens.
  const before = new Set(profileKeys(stored));
  const after = new Set(profileKeys(indexed));
  for (const key of before) if (!after.has(key)) changes.keysRemoved.push({ workspaceId, key, userId });
  for (const key of after) if (!before.has(key)) changes.keysAdded.push({ workspaceId, key, userId });
};

const addUser = (changes: Changes, entry: Entry) => {
  const { userId, version, isRemoved } = entry;
  // Made by this group and gone again.
  if (version === 0 && isRemoved) return;
  addKeys(changes, entry);
  if (!isRemoved) {
    entry.externalId = entry.indexed.externalId;
    const row = writtenUser(entry);
    entry.characters = row.profile?.length ?? 0;
    (version === 0 ? changes.created : changes.updated).push(row);
    return;
  }
  changes.deleted.push({ userId, version: version + 1 });
  const heir = heirOf(entry);
  if (heir) changes.moved.push({ from: userId, to: heir.userId });
  else if (!entry.isExpired) changes.uncounted.push(userId);
  changes.erased.push(userId);
};

/**
 * Users in memory, as they were read. Works find and change them through `users`; `changes` answers what is to be written.
 * Once that is on its way, `sent` makes them what the database will have. Removed users stay, as it may still have them.
 */
export const createUserGroup = (ids: UserIds) => {
  const indexes = new Map<string, UserIndex>();
  let touched: Entry[] = [];
  let events: { entry: Entry; event: StoredEvent }[] = [];
  let bannerEvents: { entry: Entry; event: NewBannerEvent }[] = [];
  let forgotten: Changes['forgotten'] = [];
  const points = new Map<string, Changes['points'][number]>();
  let characters = 0;

  const indexOf = (workspaceId: string): UserIndex => {
    const known = indexes.get(workspaceId);
    if (known) return known;
    const index = createUserIndex();
    indexes.set(workspaceId, index);
    return index;
  };

  const touch = (entry: Entry) => {
    if (entry.isChanged) return;
    entry.isChanged = true;
    touched.push(entry);
  };

  const leave = (entry: Entry, mergedInto: Entry | null) => {
    entry.isRemoved = true;
    entry.mergedInto = mergedInto;
    indexOf(entry.workspaceId).rename(entry);
    touch(entry);
  };

  const users = (workspaceId: string): UserSet => {
    const index = indexOf(workspaceId);

    const add = (row: Pick<UserRow, 'userId' | 'externalId' | 'profile' | 'createdAtMs'>): Entry => {
      const entry = index.add(
        { ...row, workspaceId, seenAtMs: row.createdAtMs, version: 0, characters: 0 },
        false,
      );
      touch(entry);
      return entry;
    };

    const changed = (profile: Profile) => {
      const entry = entryOf(profile);
      touch(entry);
      if (sameNames(entry.indexed, profile)) return;
      const { externalId } = profile;
      if (externalId !== null && externalId !== entry.indexed.externalId) {
        // A user who had banner events under this external ID, and no profile, becomes this one.
        const bearer = index.bearerOf(externalId);
        if (bearer && !bearer.profile) leave(bearer, entry);
      }
      index.rename(entry);
    };

    return {
      find: index.find,
      changed,
      create(fields, nowMs) {
        const bearer = fields.externalId == null ? undefined : index.bearerOf(fields.externalId);
        const bare = bearer && !bearer.profile ? bearer : undefined;
        const userId = bare?.userId ?? ids.next(nowMs);
        const profile = completeProfile({ ...fields, userId, createdAtMs: nowMs, updatedAtMs: nowMs });
        if (bare) {
          bare.profile = profile;
          index.rename(bare);
          touch(bare);
        } else add({ userId, externalId: profile.externalId, profile, createdAtMs: nowMs });
        return profile;
      },
      merge(kept, merged) {
        const heir = heirOf(entryOf(kept));
        if (!heir || heir === entryOf(merged))
          throw new Error('A user is merged into another one who is there');
        leave(entryOf(merged), heir);
        changed(kept);
      },
      remove(profile) {
        const { externalId } = profile;
        leave(entryOf(profile), null);
        if (externalId !== null) forgotten.push({ workspaceId, externalId });
      },
      forget(externalId) {
        const bearer = index.bearerOf(externalId);
        if (bearer) leave(bearer, null);
        forgotten.push({ workspaceId, externalId });
        return bearer !== undefined;
      },
      record(profile, event) {
        const entry = entryOf(profile);
        touch(entry);
        tallyEvent(profile, event);
        events.push({ entry, event });
      },
      recordBannerEvents(externalId, recorded, nowMs, mayMake) {
        const known = index.bearerOf(externalId);
        if (!known && !mayMake) return false;
        const entry =
          known ?? add({ userId: ids.next(nowMs), externalId, profile: null, createdAtMs: nowMs });
        if (known && !known.profile) {
          known.seenAtMs = Math.max(known.seenAtMs, nowMs);
          touch(known);
        }
        for (const event of recorded) bannerEvents.push({ entry, event });
        return true;
      },
      expire(externalId, beforeMs) {
        const bearer = index.bearerOf(externalId);
        if (!bearer || bearer.profile || bearer.seenAtMs >= beforeMs) return;
        bearer.isExpired = true;
        leave(bearer, null);
      },
      addDataPoints(count, day) {
        const name = `${day} ${workspaceId}`;
        const known = points.get(name);
        if (known) known.points += count;
        else points.set(name, { workspaceId, day, points: count });
      },
    };
  };

  return {
    users,

    /**
     * Adds users who were read. What is known of a user already is newer. `named` is what they were found by: every user
     * with such a key is here from now on.
     */
    add(rows: Iterable<UserRow>, named: Iterable<{ workspaceId: string; key: string; lookup: Lookup }> = []) {
      for (const row of rows) {
        const index = indexOf(row.workspaceId);
        if (index.has(row.userId)) continue;
        index.add(row, true);
        characters += ENTRY_CHARACTERS + row.characters;
      }
      for (const { workspaceId, key, lookup } of named) {
        if (lookup.by === 'external_id' || lookup.by === 'braze_id') continue;
        indexOf(workspaceId).completed(key);
        characters += ENTRY_CHARACTERS;
      }
    },

    /** Whether all users that a lookup names are here already. */
    knows: (workspaceId: string, lookup: Lookup): boolean => indexes.get(workspaceId)?.knows(lookup) ?? false,

    changes(): Changes {
      const changes = { ...noChanges(), forgotten };
      for (const entry of touched) addUser(changes, entry);
      for (const { entry, event } of events) {
        const heir = heirOf(entry);
        if (heir) changes.events.push({ workspaceId: heir.workspaceId, userId: heir.userId, event });
      }
      for (const { entry, event } of bannerEvents) {
        const heir = heirOf(entry);
        if (heir) changes.bannerEvents.push({ workspaceId: heir.workspaceId, userId: heir.userId, event });
      }
      changes.points.push(...points.values());
      return changes;
    },

    /** Of all profiles here, as JSON, and of what finds them. */
    characters: () => characters,

    /** The users who are there, as they will be stored. */
    rows: (): UserRow[] => [...indexes.values()].flatMap((index) => index.rows()),

    /** To be called once the changes are on their way to the database: others may follow. */
    sent() {
      for (const entry of touched) {
        if (entry.version === 0) characters += ENTRY_CHARACTERS;
        characters += entry.characters - entry.counted;
        entry.counted = entry.characters;
        entry.version += 1;
        entry.stored = entry.indexed;
        entry.isChanged = false;
      }
      [touched, events, bannerEvents, forgotten] = [[], [], [], []];
      points.clear();
    },
  };
};

export type UserGroup = ReturnType<typeof createUserGroup>;
