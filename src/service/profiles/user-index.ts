import {
  type IdentifyingFields,
  type Lookup,
  parseUserId,
  toIdentifier,
  toSharedIdentifiers,
} from './lookup.ts';
import type { Profile } from './profile.ts';
import type { UserRow } from './user-repository.ts';

/** A user in memory. */
export interface CachedUser {
  /** Row with pending changes. */
  row: UserRow;
  storedIdentifiers: IdentifyingFields;
  indexedIdentifiers: IdentifyingFields;
  /** Removal of the user; `null` if not removed. `mergedInto` is the merge target. Results keep the counts of an expired user. */
  removal: { mergedInto: CachedUser | null; isExpired: boolean } | null;
}

const NO_IDENTIFIERS: IdentifyingFields = {
  externalId: null,
  email: null,
  phone: null,
  aliases: [],
  pushTokens: [],
};

/** Returns the current identifiers. Mutations change profiles in place. */
const getIdentifyingFields = ({ externalId, profile }: UserRow): IdentifyingFields => {
  if (!profile) return { ...NO_IDENTIFIERS, externalId };
  const { email, phone, aliases, pushTokens } = profile;
  return { externalId: profile.externalId, email, phone, aliases, pushTokens };
};

/** Whether the identifying fields are equal. Compares arrays by identity, because mutations replace the arrays of aliases and tokens. */
export const hasSameIdentifiers = (a: IdentifyingFields, b: IdentifyingFields): boolean =>
  a.externalId === b.externalId &&
  a.email === b.email &&
  a.phone === b.phone &&
  a.aliases === b.aliases &&
  a.pushTokens === b.pushTokens;

/** Property of a profile that holds its entry. A map would be slower in this hot path. */
const ENTRY = Symbol('entry');
type Linked = Profile & { [ENTRY]?: CachedUser };

export const getEntry = (profile: Linked): CachedUser => {
  const entry = profile[ENTRY];
  if (!entry) throw new Error('The profile does not belong to this set of users');
  return entry;
};

/** Creates an index of the users of one workspace in memory, by identifier. */
export const createUserIndex = () => {
  const byId = new Map<number, CachedUser>();
  const byExternalId = new Map<string, CachedUser>();
  const byIdentifier = new Map<string, Set<CachedUser>>();
  /** Shared identifiers whose users are all in memory, so that an identifier with thousands of users is read only once. */
  const fullyCached = new Set<string>();

  const unindex = (entry: CachedUser) => {
    const { externalId } = entry.indexedIdentifiers;
    if (externalId !== null && byExternalId.get(externalId) === entry) byExternalId.delete(externalId);
    for (const identifier of toSharedIdentifiers(entry.indexedIdentifiers)) {
      const entries = byIdentifier.get(identifier);
      entries?.delete(entry);
      if (entries?.size === 0) byIdentifier.delete(identifier);
    }
  };

  /** Indexes a user by the current identifiers. Removes the identifiers of a removed user. */
  const reindex = (entry: CachedUser) => {
    unindex(entry);
    const fields = entry.removal ? NO_IDENTIFIERS : getIdentifyingFields(entry.row);
    entry.indexedIdentifiers = fields;
    const profile: Linked | null = entry.row.profile;
    if (profile) profile[ENTRY] = entry;
    if (fields.externalId !== null) byExternalId.set(fields.externalId, entry);
    for (const identifier of toSharedIdentifiers(fields)) {
      const entries = byIdentifier.get(identifier);
      if (entries) entries.add(entry);
      else byIdentifier.set(identifier, new Set([entry]));
    }
  };

  /** Returns the user with this external ID, even without a profile. */
  const findByExternalId = (externalId: string): CachedUser | undefined => byExternalId.get(externalId);

  const findEntries = (lookup: Lookup): Iterable<CachedUser | undefined> => {
    if (lookup.by === 'external_id') return [findByExternalId(lookup.value)];
    if (lookup.by !== 'braze_id') return byIdentifier.get(toIdentifier(lookup)) ?? [];
    const entry = byId.get(parseUserId(lookup.value) ?? Number.NaN);
    return entry?.removal ? [] : [entry];
  };

  return {
    reindex,
    findByExternalId,
    markFullyCached: (identifier: string) => void fullyCached.add(identifier),

    /** Whether all users of a lookup are in memory. */
    isCached(lookup: Lookup): boolean {
      if (lookup.by === 'external_id') return byExternalId.has(lookup.value);
      return lookup.by !== 'braze_id' && fullyCached.has(toIdentifier(lookup));
    },

    /** Returns a user; `null` if removed, `undefined` if not in memory. */
    getRow(userId: number): UserRow | null | undefined {
      const entry = byId.get(userId);
      return entry?.removal ? null : entry?.row;
    },

    /** Returns the users of a lookup. */
    getRows: (lookup: Lookup): UserRow[] =>
      [...findEntries(lookup)].flatMap((entry) => (entry && !entry.removal ? [entry.row] : [])),

    add(row: UserRow, isStored: boolean): CachedUser {
      const entry: CachedUser = {
        row,
        storedIdentifiers: NO_IDENTIFIERS,
        indexedIdentifiers: NO_IDENTIFIERS,
        removal: null,
      };
      byId.set(row.userId, entry);
      reindex(entry);
      if (isStored) entry.storedIdentifiers = entry.indexedIdentifiers;
      return entry;
    },

    /** Removes a user from memory, so that the next lookup reads the user again. */
    forget(userId: number): void {
      const entry = byId.get(userId);
      if (entry) unindex(entry);
      byId.delete(userId);
    },

    find(lookup: Lookup): Profile[] {
      const profiles: Profile[] = [];
      for (const entry of findEntries(lookup)) if (entry?.row.profile) profiles.push(entry.row.profile);
      return profiles;
    },
  };
};

export type UserIndex = ReturnType<typeof createUserIndex>;
