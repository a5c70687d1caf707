import type { Profile } from '../profiles/profile.ts';
import { sharedKeys } from '../profiles/user-key.ts';
import { createEntry, type Entry, type LiveEntry, namesOf } from './entry.ts';

/** Entries by the ID, by the external ID, and by every other key. */
interface Generation {
  byId: Map<string, KeptEntry>;
  byExternalId: Map<string, KeptEntry>;
  byKey: Map<string, KeptEntry[]>;
  /** Keys under which everyone is whom the store has, so that it need not be asked. */
  complete: Set<string>;
}

const createGeneration = (): Generation => ({
  byId: new Map(),
  byExternalId: new Map(),
  byKey: new Map(),
  complete: new Set(),
});

/** What one workspace has in memory. */
export interface Space {
  workspaceId: string;
  young: Generation;
  old: Generation;
}

export type KeptEntry = LiveEntry<Space>;

/** A profile of fewer characters counts as one. */
const ORDINARY_CHARACTERS = 4_096;

export interface GenerationsOptions {
  /** How many profiles one of the two generations keeps; a large one counts as several. */
  capacity: number;
  /** True while an entry knows more than the store: it must stay. */
  isPending(entry: Entry): boolean;
}

/**
 * Profiles in memory with their indices. Two generations bound the memory: what nobody asked for while one filled up
 * goes with the older one.
 */
export const createGenerations = ({ capacity, isPending }: GenerationsOptions) => {
  const spaces = new Map<string, Space>();
  let size = 0;

  const keep = (entry: KeptEntry) => {
    entry.space.young.byId.set(entry.profile.brazeId, entry);
    size += 1;
  };

  const byId = ({ young, old }: Space, brazeId: string): KeptEntry | undefined => {
    const entry = young.byId.get(brazeId);
    if (entry) return entry;
    const older = old.byId.get(brazeId);
    if (older) keep(older);
    return older;
  };

  /** Entries known under a key; some may bear it no more. */
  const byKey = (space: Space, key: string): KeptEntry[] => {
    const list = space.young.byKey.get(key);
    if (list) return list;
    const older = space.old.byKey.get(key);
    if (!older) return [];
    space.young.byKey.set(key, older);
    // All of them stay as long as their list does, or it would not be complete.
    for (const entry of older) byId(space, entry.profile.brazeId);
    if (space.old.complete.has(key)) space.young.complete.add(key);
    return older;
  };

  const index = (entry: KeptEntry, key: string) => {
    const list = byKey(entry.space, key);
    if (list.length === 0) entry.space.young.byKey.set(key, [entry]);
    else if (!list.includes(entry)) list.push(entry);
  };

  const indexAll = (entry: KeptEntry) => {
    const { profile, space } = entry;
    if (profile.externalId !== null) space.young.byExternalId.set(profile.externalId, entry);
    for (const key of sharedKeys(profile)) index(entry, key);
    entry.indexed = namesOf(profile);
  };

  return {
    byId,
    byKey,
    index,
    indexAll,

    /** Everyone whom the store has under a key has been indexed. Of a key that nobody has, no note is taken. */
    completed(space: Space, key: string) {
      if (byKey(space, key).length > 0) space.young.complete.add(key);
    },
    isComplete: (space: Space, key: string): boolean =>
      byKey(space, key).length > 0 && space.young.complete.has(key),

    spaceOf(workspaceId: string): Space {
      let space = spaces.get(workspaceId);
      if (!space) {
        space = { workspaceId, young: createGeneration(), old: createGeneration() };
        spaces.set(workspaceId, space);
      }
      return space;
    },

    byExternalId(space: Space, externalId: string): KeptEntry | undefined {
      let entry = space.young.byExternalId.get(externalId);
      if (!entry) {
        entry = space.old.byExternalId.get(externalId);
        if (entry) {
          space.young.byExternalId.set(externalId, entry);
          byId(space, entry.profile.brazeId);
        }
      }
      return entry && !entry.removed && entry.profile.externalId === externalId ? entry : undefined;
    },

    add(space: Space, profile: Profile): KeptEntry {
      const entry = createEntry(space, profile);
      keep(entry);
      return entry;
    },

    /** Tells of the size of a profile, or of several alike, in characters of its text. */
    weigh(characters: number, profiles = 1) {
      size += profiles * Math.floor(characters / ORDINARY_CHARACTERS);
    },

    /** Between two works: lets the older generation go where the younger one is full. */
    rotate() {
      if (size <= capacity) return;
      size = 0;
      for (const space of spaces.values()) {
        const leaving = space.old;
        space.old = space.young;
        space.young = createGeneration();
        for (const entry of leaving.byId.values()) {
          if (!isPending(entry)) continue;
          keep(entry);
          // One that is removed would hide another who has got its name since.
          if (!entry.removed) indexAll(entry);
        }
      }
    },

    clear() {
      spaces.clear();
      size = 0;
    },
  };
};
