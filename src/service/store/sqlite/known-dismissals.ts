import type { Dismissal } from '../store.ts';

/** Users that one of the two generations remembers. */
const CAPACITY = 50_000;
const NONE: readonly Dismissal[] = [];

interface Generations {
  young: Map<string, readonly Dismissal[]>;
  old: Map<string, readonly Dismissal[]>;
}

/**
 * What each user has dismissed, asked of the file once. Exact because one process owns the file: whoever stores a
 * dismissal says so here, once it is stored. Two generations bound the memory.
 */
export const createKnownDismissals = (
  read: (workspaceId: string, externalUserId: string) => readonly Dismissal[],
  capacity = CAPACITY,
) => {
  const spaces = new Map<string, Generations>();
  let size = 0;

  const spaceOf = (workspaceId: string): Generations => {
    let space = spaces.get(workspaceId);
    if (!space) {
      space = { young: new Map(), old: new Map() };
      spaces.set(workspaceId, space);
    }
    return space;
  };

  const rotate = () => {
    size = 0;
    for (const space of spaces.values()) {
      space.old = space.young;
      space.young = new Map();
    }
  };

  return {
    of(workspaceId: string, externalUserId: string): readonly Dismissal[] {
      const space = spaceOf(workspaceId);
      const known = space.young.get(externalUserId);
      if (known) return known;
      const older = space.old.get(externalUserId) ?? read(workspaceId, externalUserId);
      // Most users have dismissed nothing: they share one list.
      const dismissals = older.length === 0 ? NONE : older;
      if (size >= capacity) rotate();
      space.young.set(externalUserId, dismissals);
      size += 1;
      return dismissals;
    },

    forget(workspaceId: string, externalUserId: string): void {
      const { young, old } = spaceOf(workspaceId);
      young.delete(externalUserId);
      old.delete(externalUserId);
    },

    clear(): void {
      spaces.clear();
      size = 0;
    },
  };
};
