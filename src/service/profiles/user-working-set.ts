import { getHeapStatistics } from 'node:v8';
import type { NewBannerEvent, StoredEvent } from './events.ts';
import {
  type DistinctLookup,
  type Lookup,
  toIdentifier,
  toIdentifiers,
  toRejectIdentifiers,
  type UserIds,
} from './lookup.ts';
import { createProfile, type Profile, recordActivity, touch } from './profile.ts';
import {
  type CachedUser,
  createUserIndex,
  getEntry,
  hasSameIdentifiers,
  type UserIndex,
} from './user-index.ts';
import {
  type ChangeSet,
  emptyChangeSet,
  type UserRepository,
  type UserRow,
  writtenUser,
} from './user-repository.ts';

/** Users from the database, and the lookups whose users are all among them. */
export interface FoundUsers {
  users: Iterable<UserRow>;
  /** Lookups of the read. Empty if users are not cached. */
  loadedLookups?: Iterable<DistinctLookup>;
}

/** Whether a row of the database is newer than a cached row; `null` if the user was removed. */
export const isNewer = (row: UserRow, cached: UserRow | null): boolean =>
  cached !== null && row.version > cached.version;

/** Returns the merge target of a removed user; `null` if erased. */
const resolveMergeTarget = (entry: CachedUser): CachedUser | null => {
  let mergeTarget = entry;
  while (mergeTarget.removal?.mergedInto) mergeTarget = mergeTarget.removal.mergedInto;
  return mergeTarget.removal ? null : mergeTarget;
};

/** Maximum size of cached users, in characters of JSON. The objects use several times as much memory. */
export const MAX_CHARACTERS = Math.floor(getHeapStatistics().heap_size_limit / 64);
/** Overhead of a cached user, in characters of JSON. */
export const USER_CHARACTERS = 200;

const addIdentifierChanges = (
  changes: ChangeSet,
  { row: { userId, workspaceId }, storedIdentifiers, indexedIdentifiers }: CachedUser,
) => {
  if (indexedIdentifiers === storedIdentifiers) return;
  // A user may have thousands of push tokens.
  const before = new Set(toIdentifiers(storedIdentifiers));
  const after = new Set(toIdentifiers(indexedIdentifiers));
  for (const identifier of before)
    if (!after.has(identifier)) changes.identifiersRemoved.push({ workspaceId, identifier, userId });
  for (const identifier of after)
    if (!before.has(identifier)) changes.identifiersAdded.push({ workspaceId, identifier, userId });
};

const addUserChanges = (changes: ChangeSet, entry: CachedUser) => {
  const { row, indexedIdentifiers, removal } = entry;
  const { userId, workspaceId, version } = row;
  // The database does not contain a user who was created and removed within the group.
  if (version === 0 && removal) return;
  addIdentifierChanges(changes, entry);
  if (!removal) {
    row.externalId = indexedIdentifiers.externalId;
    const written = writtenUser(row);
    row.characters = written.profile?.length ?? 0;
    (version === 0 ? changes.created : changes.updated).push(written);
    return;
  }
  changes.deleted.push({ userId, version: version + 1 });
  const mergeTarget = resolveMergeTarget(entry);
  if (mergeTarget) changes.merged.push({ workspaceId, from: userId, to: mergeTarget.row.userId });
  else changes.erasedOrExpired.push({ workspaceId, userId, kind: removal.isExpired ? 'expired' : 'erased' });
  changes.userIdsToPurge.push(userId);
};

/**
 * Creates a working set: users in memory, for the commit groups that change them. `change` applies mutations and returns the
 * change set. Keeps removed users, because the database may still contain them. Discard the working set if a mutation throws or
 * the changes are not stored.
 */
export const createUserWorkingSet = (ids: UserIds) => {
  const indexes = new Map<string, UserIndex>();
  const touched = new Set<CachedUser>();
  let events: { entry: CachedUser; event: StoredEvent }[] = [];
  let bannerEvents: { entry: CachedUser; event: NewBannerEvent }[] = [];
  let auditRedactions: ChangeSet['auditRedactions'] = [];
  let identifiersOfDeletedRejects: ChangeSet['identifiersOfDeletedRejects'] = [];
  const points = new Map<string, ChangeSet['points'][number]>();
  let characters = 0;

  const ensureIndex = (workspaceId: string): UserIndex => {
    const existing = indexes.get(workspaceId);
    if (existing) return existing;
    const index = createUserIndex();
    indexes.set(workspaceId, index);
    return index;
  };

  const removeEntry = (entry: CachedUser, mergeTarget: CachedUser | null, isExpired = false) => {
    entry.removal = { mergedInto: mergeTarget, isExpired };
    ensureIndex(entry.row.workspaceId).reindex(entry);
    touched.add(entry);
  };

  const erase = (entry: CachedUser) => {
    const { row, indexedIdentifiers, storedIdentifiers } = entry;
    for (const fields of [storedIdentifiers, indexedIdentifiers])
      for (const identifier of toRejectIdentifiers(row.userId, fields))
        identifiersOfDeletedRejects.push({ workspaceId: row.workspaceId, userIdentifier: identifier });
    removeEntry(entry, null);
  };

  const getUsers = (workspaceId: string): UserRepository => {
    const index = ensureIndex(workspaceId);

    const createEntry = (
      row: Pick<UserRow, 'userId' | 'externalId' | 'profile' | 'createdAtMs'>,
    ): CachedUser => {
      const entry = index.add(
        { ...row, workspaceId, lastActivityMs: row.createdAtMs, version: 0, characters: 0 },
        false,
      );
      touched.add(entry);
      return entry;
    };

    const changed = (profile: Profile, nowMs: number) => {
      touch(profile, nowMs);
      const entry = getEntry(profile);
      touched.add(entry);
      if (hasSameIdentifiers(entry.indexedIdentifiers, profile)) return;
      const { externalId } = profile;
      if (externalId !== null && externalId !== entry.indexedIdentifiers.externalId) {
        // If another user has only banner events under this external ID, merges that user into this one.
        const owner = index.findByExternalId(externalId);
        if (owner && !owner.row.profile) removeEntry(owner, entry);
      }
      index.reindex(entry);
    };

    return {
      find: index.find,
      changed,
      create(fields, nowMs) {
        const owner = fields.externalId == null ? undefined : index.findByExternalId(fields.externalId);
        const stub = owner && !owner.row.profile ? owner : undefined;
        const userId = stub?.row.userId ?? ids.next(nowMs);
        const profile = createProfile({ ...fields, userId, createdAtMs: nowMs, updatedAtMs: nowMs });
        if (stub) {
          stub.row.profile = profile;
          index.reindex(stub);
          touched.add(stub);
        } else createEntry({ userId, externalId: profile.externalId, profile, createdAtMs: nowMs });
        return profile;
      },
      merge(kept, merged, nowMs) {
        const mergeTarget = resolveMergeTarget(getEntry(kept));
        if (!mergeTarget || mergeTarget === getEntry(merged))
          throw new Error('The merge target is deleted or is the merged user');
        removeEntry(getEntry(merged), mergeTarget);
        changed(kept, nowMs);
      },
      erase(profile) {
        const { externalId } = profile;
        erase(getEntry(profile));
        if (externalId !== null) auditRedactions.push({ workspaceId, externalId });
      },
      eraseByExternalId(externalId) {
        const owner = index.findByExternalId(externalId);
        if (owner) erase(owner);
        auditRedactions.push({ workspaceId, externalId });
        return owner !== undefined;
      },
      deleteRejects: (lookup) =>
        void identifiersOfDeletedRejects.push({ workspaceId, userIdentifier: toIdentifier(lookup) }),
      record(profile, event) {
        const entry = getEntry(profile);
        touched.add(entry);
        recordActivity(profile, event);
        events.push({ entry, event });
      },
      recordBannerEvents(externalId, recorded, nowMs, createIfMissing) {
        const existing = index.findByExternalId(externalId);
        if (!existing && !createIfMissing) return false;
        const entry =
          existing ?? createEntry({ userId: ids.next(nowMs), externalId, profile: null, createdAtMs: nowMs });
        if (existing && !existing.row.profile) {
          existing.row.lastActivityMs = Math.max(existing.row.lastActivityMs, nowMs);
          touched.add(existing);
        }
        for (const event of recorded) bannerEvents.push({ entry, event });
        return true;
      },
      expire(externalId, beforeMs) {
        const owner = index.findByExternalId(externalId);
        if (!owner || owner.row.profile || owner.row.lastActivityMs >= beforeMs) return;
        removeEntry(owner, null, true);
      },
      addDataPoints(count, day) {
        const name = `${day} ${workspaceId}`;
        const existing = points.get(name);
        if (existing) existing.points += count;
        else points.set(name, { workspaceId, day, points: count });
      },
    };
  };

  const forget = (workspaceId: string, userId: number) => {
    const index = ensureIndex(workspaceId);
    const cached = index.getRow(userId);
    if (cached) characters -= USER_CHARACTERS + cached.characters;
    index.forget(userId);
  };

  const add = ({ users, loadedLookups = [] }: FoundUsers) => {
    for (const row of users) {
      const index = ensureIndex(row.workspaceId);
      const cached = index.getRow(row.userId);
      // A cached user is as new as the database or newer, except if another replica has written the user.
      if (cached !== undefined && !isNewer(row, cached)) continue;
      forget(row.workspaceId, row.userId);
      index.add(row, true);
      characters += USER_CHARACTERS + row.characters;
    }
    for (const { workspaceId, identifier, lookup } of loadedLookups) {
      if (lookup.by === 'external_id' || lookup.by === 'braze_id') continue;
      ensureIndex(workspaceId).markFullyCached(identifier);
      characters += USER_CHARACTERS;
    }
  };

  /** Returns the changes since the last call. */
  const drainChanges = (): ChangeSet => {
    const changes = {
      ...emptyChangeSet(),
      auditRedactions,
      identifiersOfDeletedRejects,
      points: [...points.values()],
    };
    for (const entry of touched) {
      const { row } = entry;
      const before = row.version === 0 ? -USER_CHARACTERS : row.characters;
      addUserChanges(changes, entry);
      characters += row.characters - before;
      row.version += 1;
      entry.storedIdentifiers = entry.indexedIdentifiers;
    }
    const forMergeTargets = <T>(list: readonly { entry: CachedUser; event: T }[]) =>
      list.flatMap(({ entry, event }) => {
        const mergeTarget = resolveMergeTarget(entry);
        return mergeTarget
          ? [{ workspaceId: mergeTarget.row.workspaceId, userId: mergeTarget.row.userId, event }]
          : [];
      });
    changes.events = forMergeTargets(events);
    changes.bannerEvents = forMergeTargets(bannerEvents);
    touched.clear();
    points.clear();
    [events, bannerEvents, auditRedactions, identifiersOfDeletedRejects] = [[], [], [], []];
    return changes;
  };

  return {
    /** Adds the users of a read, then applies mutations to the users of their workspaces. */
    change<T>(
      found: FoundUsers,
      apply: (getUsers: (workspaceId: string) => UserRepository) => T,
    ): { value: T; changes: ChangeSet } {
      add(found);
      const value = apply(getUsers);
      return { value, changes: drainChanges() };
    },

    add,
    forget,

    /** Whether all users of a lookup are cached. */
    isCached: (workspaceId: string, lookup: Lookup): boolean =>
      indexes.get(workspaceId)?.isCached(lookup) ?? false,

    /** Returns a cached user; `null` if removed, `undefined` if not cached. */
    getRow: (workspaceId: string, userId: number): UserRow | null | undefined =>
      indexes.get(workspaceId)?.getRow(userId),

    /** Returns the cached users of a lookup. */
    getRows: (workspaceId: string, lookup: Lookup): UserRow[] =>
      indexes.get(workspaceId)?.getRows(lookup) ?? [],

    /** Returns the size of all users, in characters of JSON. */
    characters: () => characters,
  };
};

export type UserWorkingSet = ReturnType<typeof createUserWorkingSet>;
