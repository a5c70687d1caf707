import type { UserRow } from './changes.ts';
import type { Profile } from './profile.ts';
import { isNamedBy, lookupKey, type Names, sharedKeys } from './user-key.ts';
import type { Lookup } from './user-set.ts';

/** A user of a group in memory. */
export interface Entry extends UserRow {
  /** The names that the database has keys of, and those of now, under which the index has the user. */
  stored: Names;
  indexed: Names;
  /** Of its profile, as they are in the group's sum. */
  counted: number;
  isChanged: boolean;
  isRemoved: boolean;
  mergedInto: Entry | null;
}

export const NO_NAMES: Names = { externalId: null, email: null, phone: null, aliases: [], pushTokens: [] };

/** Of now: profiles change. */
const namesOf = ({ externalId, profile }: UserRow): Names => {
  if (!profile) return { ...NO_NAMES, externalId };
  const { email, phone, aliases, pushTokens } = profile;
  return { externalId: profile.externalId, email, phone, aliases, pushTokens };
};

/** Aliases and tokens are changed by putting a new array there, so that comparing the arrays is enough. */
export const sameNames = (a: Names, b: Names): boolean =>
  a.externalId === b.externalId &&
  a.email === b.email &&
  a.phone === b.phone &&
  a.aliases === b.aliases &&
  a.pushTokens === b.pushTokens;

/** Leads from a profile to its entry: the hottest step of all, and a member is the fastest way. */
const ENTRY = Symbol('entry');
type Linked = Profile & { [ENTRY]?: Entry };

export const entryOf = (profile: Profile): Entry => {
  const entry = (profile as Linked)[ENTRY];
  if (!entry) throw new Error('The profile does not belong to this set of users');
  return entry;
};

/** The users of one workspace in a group, by what names them. */
export const createUserIndex = () => {
  const byId = new Map<number, Entry>();
  const byExternalId = new Map<string, Entry>();
  const byKey = new Map<string, Entry[]>();

  /** Enters the user under the names of now. Those of before stay, and `find` passes over them. */
  const enter = (entry: Entry) => {
    const names = namesOf(entry);
    entry.indexed = names;
    if (entry.profile) (entry.profile as Linked)[ENTRY] = entry;
    if (names.externalId !== null) byExternalId.set(names.externalId, entry);
    for (const key of sharedKeys(names)) {
      const entries = byKey.get(key);
      if (!entries) byKey.set(key, [entry]);
      else if (!entries.includes(entry)) entries.push(entry);
    }
  };

  /** The user with this external ID, with or without a profile. */
  const bearerOf = (externalId: string): Entry | undefined => {
    const entry = byExternalId.get(externalId);
    const isBearer = entry && !entry.isRemoved && (entry.profile ?? entry).externalId === externalId;
    return isBearer ? entry : undefined;
  };

  return {
    enter,
    bearerOf,
    has: (userId: number) => byId.has(userId),

    add(row: UserRow, isStored: boolean): Entry {
      const states = { isChanged: false, isRemoved: false, mergedInto: null };
      const entry: Entry = {
        ...row,
        stored: NO_NAMES,
        indexed: NO_NAMES,
        counted: row.characters,
        ...states,
      };
      byId.set(row.userId, entry);
      enter(entry);
      if (isStored) entry.stored = entry.indexed;
      return entry;
    },

    find(lookup: Lookup): Profile[] {
      if (lookup.by === 'external_id') {
        const profile = bearerOf(lookup.value)?.profile;
        return profile ? [profile] : [];
      }
      const entries =
        lookup.by === 'braze_id' ? [byId.get(Number(lookup.value))] : (byKey.get(lookupKey(lookup)) ?? []);
      return entries.flatMap((entry) =>
        entry?.profile && !entry.isRemoved && isNamedBy(entry.profile, lookup) ? [entry.profile] : [],
      );
    },
  };
};

export type UserIndex = ReturnType<typeof createUserIndex>;
