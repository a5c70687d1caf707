import type { Profile } from '../profiles/profile.ts';
import { completeProfile } from '../profiles/profile-text.ts';
import type { StoredEvent } from '../profiles/stored-event.ts';
import { tallyEvent } from '../profiles/tally.ts';
import { isNamedBy, lookupKey, profileKeys } from '../profiles/user-key.ts';
import type { Lookup, UserSet } from '../profiles/user-set.ts';
import {
  type Change,
  type Changes,
  type Entry,
  entryOf,
  isMore,
  NO_NAMES,
  namesOf,
  sameNames,
} from './entry.ts';
import { createGenerations, type KeptEntry, type Space } from './generations.ts';

export interface WorkingSetOptions {
  newId(nowMs: number): string;
  /** Reads what the store has and the set has not. */
  load?(workspaceId: string, lookup: Lookup): Profile[];
  /** How many profiles one of the two generations keeps for the works that follow; a large one counts as several. */
  capacity?: number;
  /** True while an entry knows more than the store: it must stay. */
  isPending?(entry: Entry): boolean;
}

/** Profiles in memory. A work finds and changes them through `users`, then `take` says what to store. */
export const createWorkingSet = ({
  newId,
  load,
  capacity = Number.POSITIVE_INFINITY,
  isPending = () => false,
}: WorkingSetOptions) => {
  const kept = createGenerations({ capacity, isPending });
  let touched: KeptEntry[] = [];
  let events: StoredEvent[] = [];
  let points: { day: string; count: number }[] = [];

  const touch = (entry: KeptEntry, change: Change) => {
    if (!entry.touched) {
      entry.touched = true;
      entry.change = change;
      touched.push(entry);
    } else if (isMore(change, entry.change)) entry.change = change;
  };

  /** Brings in what the store reads for a lookup. */
  const bringIn = (space: Space, lookup: Lookup): KeptEntry[] =>
    (load?.(space.workspaceId, lookup) ?? []).map(
      (profile) => kept.byId(space, profile.brazeId) ?? kept.add(space, profile),
    );

  const bears = (entry: KeptEntry, lookup: Lookup) => !entry.removed && isNamedBy(entry.profile, lookup);

  const find = (space: Space, lookup: Lookup): Profile[] => {
    if (lookup.by === 'external_id') {
      // Where it is known, the store need not be asked: an external ID names one profile at most.
      const entry = kept.byExternalId(space, lookup.value);
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
      const entry = kept.byId(space, lookup.value) ?? bringIn(space, lookup)[0];
      return entry && bears(entry, lookup) ? [entry.profile] : [];
    }
    const key = lookupKey(lookup);
    if (lookup.by === 'user_alias') {
      for (const entry of kept.byKey(space, key)) if (bears(entry, lookup)) return [entry.profile];
    }
    // Somebody may share an address with thousands: they are read once.
    if (!kept.isComplete(space, key)) {
      for (const entry of bringIn(space, lookup)) kept.index(entry, key);
      if (load) kept.completed(space, key);
    }
    return kept
      .byKey(space, key)
      .filter((entry) => bears(entry, lookup))
      .map((entry) => entry.profile);
  };

  const users = (workspaceId: string): UserSet => {
    const space = kept.spaceOf(workspaceId);
    const changed = (profile: Profile, change: Change) => {
      const entry = entryOf(space, profile);
      touch(entry, change);
      if (!sameNames(entry.indexed, profile)) kept.indexAll(entry);
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
        const entry = kept.add(space, profile);
        entry.isNew = true;
        entry.names = NO_NAMES;
        kept.indexAll(entry);
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

  const reset = () => {
    touched = [];
    events = [];
    points = [];
  };

  return {
    users,
    weigh: kept.weigh,

    /** Brings in what the store has read. One that is here already keeps what it is. */
    bring(workspaceId: string, profile: Profile): Entry {
      const space = kept.spaceOf(workspaceId);
      const known = kept.byId(space, profile.brazeId);
      if (known) return known;
      const entry = kept.add(space, profile);
      kept.indexAll(entry);
      return entry;
    },

    /** The profile of an external ID, for whoever reads between two works; it stays as those of works do. */
    recall(workspaceId: string, externalId: string): Profile | undefined {
      const [profile] = find(kept.spaceOf(workspaceId), { by: 'external_id', value: externalId });
      kept.rotate();
      return profile;
    },

    /** The profiles that lookups name, for whoever reads between two works; they stay as those of works do. */
    look(workspaceId: string, lookups: Lookup[]): Set<Profile> {
      const space = kept.spaceOf(workspaceId);
      const found = new Set(lookups.flatMap((lookup) => find(space, lookup)));
      kept.rotate();
      return found;
    },

    take(): Changes {
      const changes: Changes = { entries: [], keysAdded: [], keysRemoved: [], events, points };
      for (const entry of touched) {
        entry.touched = false;
        if (entry.removed || !sameNames(entry.names, entry.profile)) {
          // Sets: of push tokens somebody may have thousands.
          const before = new Set(profileKeys({ ...entry.profile, ...entry.names }));
          const after = new Set(entry.removed ? [] : profileKeys(entry.profile));
          for (const key of after) if (!before.has(key)) changes.keysAdded.push({ entry, key });
          for (const key of before) if (!after.has(key)) changes.keysRemoved.push({ entry, key });
          entry.names = namesOf(entry.profile);
          if (!entry.removed) entry.change = 'whole';
        }
        changes.entries.push({ entry, change: entry.change });
      }
      reset();
      kept.rotate();
      return changes;
    },

    /** Takes over what another set did to copies of profiles from here, once it is stored. */
    adopt(workspaceId: string, { entries }: Changes) {
      const space = kept.spaceOf(workspaceId);
      for (const { entry } of entries) {
        const known = kept.byId(space, entry.profile.brazeId);
        if (known) {
          // Its row is written: it waits for nothing any more.
          known.removed = true;
          known.behindSince = 0;
        }
        if (!entry.removed) kept.indexAll(kept.add(space, entry.profile));
      }
      kept.rotate();
    },

    /** Forgets every profile. */
    clear() {
      kept.clear();
      reset();
    },
  };
};

export type WorkingSet = ReturnType<typeof createWorkingSet>;
