import type { Profile } from '../users/profile.ts';
import { completeProfile, readProfile, writeProfile } from '../users/profile-text.ts';
import { isNamedBy, lookupKey, profileKeys } from '../users/user-key.ts';
import type { Lookup, UserSet } from '../users/user-set.ts';
import type { StoredEvent } from './store.ts';

/** A profile in memory, and what the store has of it. */
export interface Entry {
  readonly workspaceId: string;
  readonly profile: Profile;
  /** As it was stored or last handed over to be stored; `null` for one that no work has finished with yet. */
  text: string | null;
  removed: boolean;
  /** Notes of the store: which commit carries the latest text, where in it, and whether as a new row. */
  commit: number;
  slot: number;
  isNew: boolean;
}

/** What one piece of work has changed, ready to be stored. */
export interface Changes {
  /** Created or changed. A created one had `text: null` before. */
  saved: { entry: Entry; isNew: boolean }[];
  removed: Entry[];
  keysAdded: { entry: Entry; key: string }[];
  keysRemoved: { entry: Entry; key: string }[];
  events: StoredEvent[];
  /** Data points by UTC day. */
  points: { day: string; count: number }[];
}

interface LiveEntry extends Entry {
  touched: boolean;
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

/** Whoever changes the aliases or tokens of a profile puts a new array there, so that comparing it is enough. */
const sameNames = (a: Names, b: Names): boolean =>
  a.externalId === b.externalId &&
  a.email === b.email &&
  a.phone === b.phone &&
  a.aliases === b.aliases &&
  a.pushTokens === b.pushTokens;

interface Generation {
  byId: Map<string, LiveEntry>;
  byKey: Map<string, LiveEntry[]>;
  characters: number;
}

const createGeneration = (): Generation => ({ byId: new Map(), byKey: new Map(), characters: 0 });

/** Texts that one generation may hold before the older one is let go. */
const MAX_CHARACTERS = 32 * 1024 * 1024;

export interface WorkingSetOptions {
  newId(nowMs: number): string;
  /** Reads what the store has and the set has not. */
  load?(workspaceId: string, lookup: Lookup): string[];
  /** How many profiles one of the two generations keeps for the works that follow. */
  capacity?: number;
  /** True while the store has not confirmed the latest text of an entry: such an entry must stay. */
  isPending?(entry: Entry): boolean;
}

/**
 * Profiles in memory with their indices. A work finds and changes them through `users`, then `take` says what to
 * store, or `undo` puts back what the work had touched. Two generations bound the memory: what nobody asked for while
 * one filled up goes with the older one.
 */
export const createWorkingSet = ({
  newId,
  load,
  capacity = Number.POSITIVE_INFINITY,
  isPending = () => false,
}: WorkingSetOptions) => {
  let young = createGeneration();
  let old = createGeneration();
  let touched: LiveEntry[] = [];
  let events: StoredEvent[] = [];
  let points: { day: string; count: number }[] = [];

  const scoped = (workspaceId: string, key: string) => `${workspaceId}\u0000${key}`;

  const keep = (entry: LiveEntry) => {
    young.byId.set(scoped(entry.workspaceId, entry.profile.brazeId), entry);
    young.characters += entry.text?.length ?? 0;
  };

  const byId = (workspaceId: string, brazeId: string): LiveEntry | undefined => {
    const at = scoped(workspaceId, brazeId);
    const entry = young.byId.get(at);
    if (entry) return entry;
    const older = old.byId.get(at);
    if (older) keep(older);
    return older;
  };

  const add = (workspaceId: string, profile: Profile, text: string | null): LiveEntry => {
    const names = namesOf(profile);
    const entry: LiveEntry = {
      workspaceId,
      profile,
      text,
      removed: false,
      commit: 0,
      slot: 0,
      isNew: false,
      touched: false,
      names,
      indexed: names,
    };
    keep(entry);
    return entry;
  };

  /** Entries known under a key; some may bear it no more. */
  const known = (workspaceId: string, key: string): LiveEntry[] => {
    const at = scoped(workspaceId, key);
    const list = young.byKey.get(at);
    if (list) return list;
    const older = old.byKey.get(at);
    if (!older) return [];
    young.byKey.set(at, older);
    for (const entry of older) byId(workspaceId, entry.profile.brazeId);
    return older;
  };

  const index = (entry: LiveEntry, key: string) => {
    const list = known(entry.workspaceId, key);
    if (list.length === 0) young.byKey.set(scoped(entry.workspaceId, key), [entry]);
    else if (!list.includes(entry)) list.push(entry);
  };

  const indexAll = (entry: LiveEntry) => {
    for (const key of profileKeys(entry.profile)) index(entry, key);
    entry.indexed = namesOf(entry.profile);
  };

  const touch = (entry: LiveEntry) => {
    if (entry.touched) return;
    entry.touched = true;
    touched.push(entry);
  };

  const entryOf = (workspaceId: string, profile: Profile): LiveEntry => {
    const entry = byId(workspaceId, profile.brazeId);
    if (entry?.profile !== profile) throw new Error('The profile does not belong to this set of users');
    return entry;
  };

  const users = (workspaceId: string): UserSet => {
    const bears = (entry: LiveEntry, lookup: Lookup) => !entry.removed && isNamedBy(entry.profile, lookup);
    return {
      find(lookup) {
        if (lookup.by === 'braze_id') {
          let entry = byId(workspaceId, lookup.value);
          if (!entry && load) {
            for (const text of load(workspaceId, lookup)) {
              entry = add(workspaceId, readProfile(text), text);
              indexAll(entry);
            }
          }
          return entry && !entry.removed ? [entry.profile] : [];
        }
        const key = lookupKey(lookup);
        // An external ID and an alias name one profile at most: where it is known, the store need not be asked.
        if (lookup.by === 'external_id' || lookup.by === 'user_alias') {
          for (const entry of known(workspaceId, key)) if (bears(entry, lookup)) return [entry.profile];
        }
        if (load) {
          for (const text of load(workspaceId, lookup)) {
            const profile = readProfile(text);
            index(byId(workspaceId, profile.brazeId) ?? add(workspaceId, profile, text), key);
          }
        }
        return known(workspaceId, key)
          .filter((entry) => bears(entry, lookup))
          .map((entry) => entry.profile);
      },
      create(fields, nowMs) {
        const profile = completeProfile({
          ...fields,
          brazeId: newId(nowMs),
          createdAtMs: nowMs,
          updatedAtMs: nowMs,
        });
        const entry = add(workspaceId, profile, null);
        entry.names = { externalId: null, email: null, phone: null, aliases: [], pushTokens: [] };
        indexAll(entry);
        touch(entry);
        return profile;
      },
      changed(profile) {
        const entry = entryOf(workspaceId, profile);
        touch(entry);
        if (!sameNames(entry.indexed, profile)) indexAll(entry);
      },
      remove(profile) {
        const entry = entryOf(workspaceId, profile);
        touch(entry);
        entry.removed = true;
      },
      append: (event) => events.push(event),
      addDataPoints: (count, day) => points.push({ day, count }),
    };
  };

  const rotate = () => {
    if (young.byId.size <= capacity && young.characters <= MAX_CHARACTERS) return;
    const leaving = old;
    old = young;
    young = createGeneration();
    for (const entry of leaving.byId.values()) {
      if (!isPending(entry)) continue;
      keep(entry);
      indexAll(entry);
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
    bring(workspaceId: string, text: string) {
      const profile = readProfile(text);
      if (!byId(workspaceId, profile.brazeId)) indexAll(add(workspaceId, profile, text));
    },

    take(): Changes {
      const changes: Changes = { saved: [], removed: [], keysAdded: [], keysRemoved: [], events, points };
      for (const entry of touched) {
        entry.touched = false;
        const isNew = entry.text === null;
        if (entry.removed && isNew) continue;
        const rekeyed = entry.removed || !sameNames(entry.names, entry.profile);
        if (rekeyed) {
          const before = isNew ? [] : profileKeys({ ...entry.profile, ...entry.names });
          const after = entry.removed ? [] : profileKeys(entry.profile);
          for (const key of after) if (!before.includes(key)) changes.keysAdded.push({ entry, key });
          for (const key of before) if (!after.includes(key)) changes.keysRemoved.push({ entry, key });
          entry.names = namesOf(entry.profile);
        }
        if (entry.removed) changes.removed.push(entry);
        else {
          entry.text = writeProfile(entry.profile);
          young.characters += entry.text.length;
          changes.saved.push({ entry, isNew });
        }
      }
      reset();
      rotate();
      return changes;
    },

    /** Puts back what a work that failed had touched. */
    undo() {
      for (const entry of touched) {
        entry.touched = false;
        if (entry.text === null) entry.removed = true;
        else {
          Object.assign(entry.profile, readProfile(entry.text));
          entry.removed = false;
          indexAll(entry);
        }
      }
      reset();
    },

    /** Forgets every profile. */
    clear() {
      young = createGeneration();
      old = createGeneration();
      reset();
    },

    get size() {
      return young.byId.size + old.byId.size;
    },
  };
};

export type WorkingSet = ReturnType<typeof createWorkingSet>;
