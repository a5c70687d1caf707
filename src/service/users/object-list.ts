import { isRecord, MAX_NESTED_BYTES, MAX_NESTED_DEPTH } from '../../protocol/index.ts';
import { getOwn } from '../profiles/profile.ts';
import type { ObjectsEdit } from './check-custom.ts';
import { isShallow, jsonBytes } from './check-custom.ts';
import { type Members, type Merging, type Undo, undoAll } from './merge-in-place.ts';

type Positions = Set<number>;

const NOWHERE: ReadonlySet<number> = new Set();

/**
 * Creates an index of positions by the value of a member, which may be a string, number or boolean. `list` may change if the
 * index is notified of each change.
 */
const createObjectsIndex = (list: readonly (Members | null)[]) => {
  const byKey = new Map<string, Map<unknown, Positions>>();
  let hasAllKeys = false;

  const has = (key: string): boolean => hasAllKeys || byKey.has(key);

  const enter = (position: number, key: string, value: unknown) => {
    if (typeof value === 'object' || value === undefined || !has(key)) return;
    let byValue = byKey.get(key);
    if (!byValue) {
      byValue = new Map();
      byKey.set(key, byValue);
    }
    const found = byValue.get(value);
    if (found) found.add(position);
    else byValue.set(value, new Set([position]));
  };
  const leave = (position: number, key: string, value: unknown) =>
    byKey.get(key)?.get(value)?.delete(position);

  const enterAll = (position: number, object: Members) => {
    if (byKey.size === 0 && !hasAllKeys) return;
    for (const key of Object.keys(object)) enter(position, key, getOwn(object, key));
  };

  return {
    has,
    enter,
    leave,
    enterAll,
    leaveAll(position: number, object: Members) {
      if (byKey.size > 0) for (const key of Object.keys(object)) leave(position, key, getOwn(object, key));
    },

    /** Call it before looking up these keys. */
    indexKeys(keys: ReadonlySet<string>) {
      if ([...keys].every(has)) return;
      // The first pass indexes the keys of the first edit, and the second pass indexes all keys, which later edits may look up.
      if (byKey.size > 0) {
        hasAllKeys = true;
        byKey.clear();
      } else for (const key of keys) byKey.set(key, new Map());
      for (const [position, object] of list.entries()) if (object) enterAll(position, object);
    },

    findPositions: (key: string, value: unknown): ReadonlySet<number> =>
      byKey.get(key)?.get(value) ?? NOWHERE,
  };
};

/**
 * Returns the number of members that an update writes into each object, including members of nested objects, but not of lists.
 */
const countMembers = (value: unknown): number => {
  let members = 1;
  if (isRecord(value)) for (const key of Object.keys(value)) members += countMembers(value[key]);
  return members;
};

/**
 * Outcome of an edit. `too_large` is an edit that the contract drops silently. `too_many_updates` is an edit over the update
 * limit of the request, which the response reports.
 */
export type EditOutcome = 'applied' | 'too_large' | 'too_many_updates';

/**
 * Creates an array of objects for the edits of a request. The cost of an edit depends on its own size and the matching objects,
 * not on the length of the list.
 */
export const createObjectList = (stored: readonly Members[], merging: Merging) => {
  /** Objects, with `null` for a removed object, because the index contains positions. */
  const list: (Members | null)[] = [...stored];
  const index = createObjectsIndex(list);
  /** Size of the JSON in bytes. Counts one bracket, and each object with the comma or bracket after it. */
  let bytes = stored.length === 0 ? 1 : jsonBytes(stored);

  const put = (position: number, object: Members, undo: Undo): number => {
    const before = list[position]!;
    const set = (from: Members, to: Members) => {
      index.leaveAll(position, from);
      index.enterAll(position, to);
      list[position] = to;
    };
    set(before, object);
    undo.push(() => set(object, before));
    return merging.countBytes(object) - merging.countBytes(before);
  };

  const mergeInto = (position: number, object: Members, indexed: string[], undo: Undo): number => {
    const copy = merging.toCopy(list[position]!);
    list[position] = copy;
    const before = indexed.map((key) => getOwn(copy, key));
    const growth = merging.merge(copy, object, undo);
    for (const [i, key] of indexed.entries()) {
      const after = getOwn(copy, key);
      index.leave(position, key, before[i]);
      index.enter(position, key, after);
      undo.push(() => {
        index.leave(position, key, after);
        index.enter(position, key, before[i]);
      });
    }
    return growth;
  };

  const add = (objects: readonly Members[], undo: Undo): number => {
    let growth = 0;
    for (const object of objects) {
      const position = list.push(object) - 1;
      index.enterAll(position, object);
      undo.push(() => {
        index.leaveAll(position, object);
        list.pop();
      });
      growth += merging.countBytes(object) + 1;
    }
    return growth;
  };

  /** Updates matching objects. Returns the growth of the JSON in bytes; `null` if the request exceeds its update limit. */
  const update = (updates: ObjectsEdit['update'], mergeObjects: boolean, undo: Undo): number | null => {
    let growth = 0;
    for (const { key, value, object } of updates) {
      const members = countMembers(object);
      const indexed = Object.keys(object).filter(index.has);
      // Iterates over a copy, because the written value may add the same key to the index again.
      for (const position of [...index.findPositions(key, value)]) {
        if (!merging.chargeUpdate(members)) return null;
        growth += mergeObjects ? mergeInto(position, object, indexed, undo) : put(position, object, undo);
      }
    }
    return growth;
  };

  const positionsToRemove = (remove: ObjectsEdit['remove']): Set<number> => {
    const found = new Set(remove.map(({ key, value }) => index.findPositions(key, value)));
    return new Set([...found].flatMap((some) => [...some]));
  };

  const isTooDeep = (object: Members) => !isShallow(object, MAX_NESTED_DEPTH - 1);

  return {
    /** Adds, updates and removes objects atomically. */
    edit(edit: ObjectsEdit, mergeObjects: boolean): EditOutcome {
      if (edit.add.some(isTooDeep) || edit.update.some(({ object }) => isTooDeep(object))) return 'too_large';
      const undo: Undo = [];
      const added = add(edit.add, undo);
      index.indexKeys(new Set([...edit.update, ...edit.remove].map(({ key }) => key)));
      const updated = update(edit.update, mergeObjects, undo);
      if (updated === null) {
        undoAll(undo);
        return 'too_many_updates';
      }
      const removed = positionsToRemove(edit.remove);
      const after = [...removed].reduce(
        (sum, position) => sum - merging.countBytes(list[position]) - 1,
        bytes + added + updated,
      );
      if (after > MAX_NESTED_BYTES) {
        undoAll(undo);
        return 'too_large';
      }
      bytes = after;
      for (const position of removed) {
        index.leaveAll(position, list[position]!);
        list[position] = null;
      }
      return 'applied';
    },

    isEmpty: () => bytes === 1,
    objects: (): Members[] => list.filter((object) => object !== null),
  };
};

export type ObjectList = ReturnType<typeof createObjectList>;
