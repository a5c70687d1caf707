import type { Profile } from '../users/profile.ts';
import { completeProfile } from '../users/profile-text.ts';
import { tallyEvent } from '../users/tally.ts';
import { isNamedBy, lookupKey, profileKeys, sharedKeys } from '../users/user-key.ts';
import type { Lookup, UserSet } from '../users/user-set.ts';
import type { StoredEvent } from './store.ts';

/** A profile in memory. */
export interface Entry {
  readonly workspaceId: string;
  readonly profile: Profile;
  /** Made by the works so far, and not stored yet. */
  isNew: boolean;
  removed: boolean;
  /** Notes of the store: which commit carries its latest change, and since which request its row is behind. */
  commit: number;
  behindSince: number;
}

/** What a work did to a profile, from the least to the most: the most counts. */
export type Change = 'recorded' | 'attributes' | 'whole' | 'removed';

/** What one piece of work has changed, ready to be stored. */
export interface Changes {
  entries: { entry: Entry; change: Change }[];
  keysAdded: { entry: Entry; key: string }[];
  keysRemoved: { entry: Entry; key: string }[];
  events: StoredEvent[];
  /** Data points by UTC day. */
  points: { day: string; count: number }[];
}

interface LiveEntry extends Entry {
  readonly space: Space;
  touched: boolean;
  change: Change;
  /** The names it is stored under. */
  names: Names;
  /** The names it can be found under here. */
  indexed: Names;
}

type Names = Pick<Profile, 'externalId' | 'email' | 'phone' | 'aliases' | 'pushTokens'>;

const namesOf = ({ externalId, email, phone, aliases, pushTokens }: Profile): Names => ({
  externalId,
  email,
  phone,
  aliases,
  pushTokens,
});

/** Aliases and tokens are changed by putting a new array there, so that comparing the arrays is enough. */
const sameNames = (a: Names, b: Names): boolean =>
  a.externalId === b.externalId &&
  a.email === b.email &&
  a.phone === b.phone &&
  a.aliases === b.aliases &&
  a.pushTokens === b.pushTokens;

/** What one workspace has in memory, by the ID, by the external ID, and by every other key. */
interface Generation {
  byId: Map<string, LiveEntry>;
  byExternalId: Map<string, LiveEntry>;
  byKey: Map<string, LiveEntry[]>;
}

const createGeneration = (): Generation => ({ byId: new Map(), byExternalId: new Map(), byKey: new Map() });

interface Space {
  workspaceId: string;
  young: Generation;
  old: Generation;
}

/** Leads from a profile to its entry: the hottest step of all, and a member is the fastest way. */
const ENTRY = Symbol('entry');
type LinkedProfile = Profile & { [ENTRY]?: LiveEntry | undefined };

/** Lets a profile outlive its set without holding on to it. */
export const unlink = (profile: Profile): void => {
  (profile as LinkedProfile)[ENTRY] = undefined;
};

const RANK: Record<Change, number> = { recorded: 0, attributes: 1, whole: 2, removed: 3 };

/** A profile of fewer characters counts as one. */
const ORDINARY_CHARACTERS = 4_096;

export interface WorkingSetOptions {
  newId(nowMs: number): string;
  /** Reads what the store has and the set has not. */
  load?(workspaceId: string, lookup: Lookup): Profile[];
  /** How many profiles one of the two generations keeps for the works that follow; a large one counts as several. */
  capacity?: number;
  /** True while an entry knows more than the store: it must stay. */
  isPending?(entry: Entry): boolean;
}

/**
 * Profiles in memory with their indices. A work finds and changes them through `users`, then `take` says what to
 * store. Two generations bound the memory: what nobody asked for while one filled up goes with the older one.
 */
export const createWorkingSet = ({
  newId,
  load,
  capacity = Number.POSITIVE_INFINITY,
  isPending = () => false,
}: WorkingSetOptions) => {
  const spaces = new Map<string, Space>();
  let size = 0;
  let touched: LiveEntry[] = [];
  let events: StoredEvent[] = [];
  let points: { day: string; count: number }[] = [];

  const spaceOf = (workspaceId: string): Space => {
    let space = spaces.get(workspaceId);
    if (!space) {
      space = { workspaceId, young: createGeneration(), old: createGeneration() };
      spaces.set(workspaceId, space);
    }
    return space;
  };

  const keep = (entry: LiveEntry) => {
    entry.space.young.byId.set(entry.profile.brazeId, entry);
    size += 1;
  };

  const byId = ({ young, old }: Space, brazeId: string): LiveEntry | undefined => {
    const entry = young.byId.get(brazeId);
    if (entry) return entry;
    const older = old.byId.get(brazeId);
    if (older) keep(older);
    return older;
  };

  const byExternalId = (space: Space, externalId: string): LiveEntry | undefined => {
    let entry = space.young.byExternalId.get(externalId);
    if (!entry) {
      entry = space.old.byExternalId.get(externalId);
      if (entry) {
        space.young.byExternalId.set(externalId, entry);
        byId(space, entry.profile.brazeId);
      }
    }
    return entry && !entry.removed && entry.profile.externalId === externalId ? entry : undefined;
  };

  /** Entries known under a key; some may bear it no more. */
  const known = (space: Space, key: string): LiveEntry[] => {
    const list = space.young.byKey.get(key);
    if (list) return list;
    const older = space.old.byKey.get(key);
    if (!older) return [];
    space.young.byKey.set(key, older);
    for (const entry of older) byId(space, entry.profile.brazeId);
    return older;
  };

  const add = (space: Space, profile: Profile): LiveEntry => {
    const names = namesOf(profile);
    const entry: LiveEntry = {
      workspaceId: space.workspaceId,
      space,
      profile,
      isNew: false,
      removed: false,
      commit: 0,
      behindSince: 0,
      touched: false,
      change: 'recorded',
      names,
      indexed: names,
    };
    (profile as LinkedProfile)[ENTRY] = entry;
    keep(entry);
    return entry;
  };

  const index = (entry: LiveEntry, key: string) => {
    const list = known(entry.space, key);
    if (list.length === 0) entry.space.young.byKey.set(key, [entry]);
    else if (!list.includes(entry)) list.push(entry);
  };

  const indexAll = (entry: LiveEntry) => {
    const { profile, space } = entry;
    if (profile.externalId !== null) space.young.byExternalId.set(profile.externalId, entry);
    for (const key of sharedKeys(profile)) index(entry, key);
    entry.indexed = namesOf(profile);
  };

  const touch = (entry: LiveEntry, change: Change) => {
    if (!entry.touched) {
      entry.touched = true;
      entry.change = change;
      touched.push(entry);
    } else if (RANK[change] > RANK[entry.change]) entry.change = change;
  };

  const entryOf = (space: Space, profile: LinkedProfile): LiveEntry => {
    const entry = profile[ENTRY];
    if (entry?.space !== space) throw new Error('The profile does not belong to this set of users');
    return entry;
  };

  /** Brings in what the store reads for a lookup. */
  const bringIn = (space: Space, lookup: Lookup): LiveEntry[] =>
    (load?.(space.workspaceId, lookup) ?? []).map(
      (profile) => byId(space, profile.brazeId) ?? add(space, profile),
    );

  const bears = (entry: LiveEntry, lookup: Lookup) => !entry.removed && isNamedBy(entry.profile, lookup);

  const find = (space: Space, lookup: Lookup): Profile[] => {
    if (lookup.by === 'external_id') {
      // Where it is known, the store need not be asked: an external ID names one profile at most.
      const entry = byExternalId(space, lookup.value);
      if (entry) return [entry.profile];
      for (const loaded of bringIn(space, lookup)) {
        if (bears(loaded, lookup)) {
          space.young.byExternalId.set(lookup.value, loaded);
          return [loaded.profile];
        }
      }
      return [];
    }
    if (lookup.by === 'braze_id') {
      const entry = byId(space, lookup.value) ?? bringIn(space, lookup)[0];
      return entry && bears(entry, lookup) ? [entry.profile] : [];
    }
    const key = lookupKey(lookup);
    if (lookup.by === 'user_alias') {
      for (const entry of known(space, key)) if (bears(entry, lookup)) return [entry.profile];
    }
    for (const entry of bringIn(space, lookup)) index(entry, key);
    return known(space, key)
      .filter((entry) => bears(entry, lookup))
      .map((entry) => entry.profile);
  };

  const users = (workspaceId: string): UserSet => {
    const space = spaceOf(workspaceId);
    const changed = (profile: Profile, change: Change) => {
      const entry = entryOf(space, profile);
      touch(entry, change);
      if (!sameNames(entry.indexed, profile)) indexAll(entry);
    };
    return {
      find: (lookup) => find(space, lookup),
      create(fields, nowMs) {
        const profile = completeProfile({
          ...fields,
          brazeId: newId(nowMs),
          createdAtMs: nowMs,
          updatedAtMs: nowMs,
        });
        const entry = add(space, profile);
        entry.isNew = true;
        entry.names = { externalId: null, email: null, phone: null, aliases: [], pushTokens: [] };
        indexAll(entry);
        touch(entry, 'whole');
        return profile;
      },
      changed: (profile) => changed(profile, 'attributes'),
      replaced: (profile) => changed(profile, 'whole'),
      remove(profile) {
        const entry = entryOf(space, profile);
        touch(entry, 'removed');
        entry.removed = true;
      },
      record(profile, event) {
        touch(entryOf(space, profile), 'recorded');
        tallyEvent(profile, event);
        events.push(event);
      },
      addDataPoints: (count, day) => points.push({ day, count }),
    };
  };

  const rotate = () => {
    if (size <= capacity) return;
    size = 0;
    for (const space of spaces.values()) {
      const leaving = space.old;
      space.old = space.young;
      space.young = createGeneration();
      for (const entry of leaving.byId.values()) {
        if (!isPending(entry)) continue;
        keep(entry);
        indexAll(entry);
      }
    }
  };

  const reset = () => {
    touched = [];
    events = [];
    points = [];
  };

  return {
    users,

    /** Brings in what the store has read. One that is here already keeps what it is. */
    bring(workspaceId: string, profile: Profile): Entry {
      const space = spaceOf(workspaceId);
      const known = byId(space, profile.brazeId);
      if (known) return known;
      const entry = add(space, profile);
      indexAll(entry);
      return entry;
    },

    /** Tells of a profile's size, in characters of its text. */
    weigh(characters: number) {
      size += Math.floor(characters / ORDINARY_CHARACTERS);
    },

    /** The profile of an external ID where it is in memory; `undefined` where only the store can tell. */
    peek: (workspaceId: string, externalId: string): Profile | undefined =>
      byExternalId(spaceOf(workspaceId), externalId)?.profile,

    take(): Changes {
      const changes: Changes = { entries: [], keysAdded: [], keysRemoved: [], events, points };
      for (const entry of touched) {
        entry.touched = false;
        if (entry.removed || !sameNames(entry.names, entry.profile)) {
          const before = profileKeys({ ...entry.profile, ...entry.names });
          const after = entry.removed ? [] : profileKeys(entry.profile);
          for (const key of after) if (!before.includes(key)) changes.keysAdded.push({ entry, key });
          for (const key of before) if (!after.includes(key)) changes.keysRemoved.push({ entry, key });
          entry.names = namesOf(entry.profile);
          if (!entry.removed) entry.change = 'whole';
        }
        changes.entries.push({ entry, change: entry.change });
      }
      reset();
      rotate();
      return changes;
    },

    /** Forgets every profile. */
    clear() {
      spaces.clear();
      size = 0;
      reset();
    },
  };
};

export type WorkingSet = ReturnType<typeof createWorkingSet>;
