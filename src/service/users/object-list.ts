import { isRecord, MAX_NESTED_BYTES, MAX_NESTED_DEPTH } from '../../protocol/index.ts';
import { getOwn } from '../profiles/own.ts';
import type { ObjectsEdit } from './check-custom.ts';
import { jsonBytes } from './json-bytes.ts';
import { type Members, type Merging, type Undo, undoAll } from './merge-in-place.ts';
import { isShallow } from './nested.ts';
import { createObjectsIndex } from './objects-index.ts';

/**
 * Members that the updates of one request may write in one list, each as often as it is written. A whole list of
 * 100 KiB has 25,600 at most, where each object has one, and a few thousand as a rule: updates that write more are too
 * large in the end, or write the same objects again and again while all other requests wait.
 */
const MOST_WRITTEN = 100_000;

/** What an update writes in each place: the object and the objects in it, but no list. */
const membersOf = (value: unknown): number => {
  let members = 1;
  if (isRecord(value)) for (const key of Object.keys(value)) members += membersOf(value[key]);
  return members;
};

/**
 * An array of objects while a request edits it: what an edit costs is for its own size and the objects it is about, not
 * for the list.
 */
export const createObjectList = (stored: readonly Members[], merging: Merging) => {
  /** What is removed leaves its place empty, as the index knows the others by theirs. */
  const places: (Members | null)[] = [...stored];
  const index = createObjectsIndex(places);
  /** Of its JSON: a bracket, and each object with the comma or the bracket after it. */
  let bytes = stored.length === 0 ? 1 : jsonBytes(stored);
  let written = 0;

  const put = (place: number, object: Members, undo: Undo): number => {
    const before = places[place]!;
    const set = (from: Members, to: Members) => {
      index.leaveAll(place, from);
      index.enterAll(place, to);
      places[place] = to;
    };
    set(before, object);
    undo.push(() => set(object, before));
    return merging.bytesOf(object) - merging.bytesOf(before);
  };

  const mergeInto = (place: number, object: Members, indexed: string[], undo: Undo): number => {
    const copy = merging.copyOf(places[place]!);
    places[place] = copy;
    const before = indexed.map((key) => getOwn(copy, key));
    const growth = merging.merge(copy, object, undo);
    for (const [i, key] of indexed.entries()) {
      const after = getOwn(copy, key);
      index.leave(place, key, before[i]);
      index.enter(place, key, after);
      undo.push(() => {
        index.leave(place, key, after);
        index.enter(place, key, before[i]);
      });
    }
    return growth;
  };

  const add = (objects: readonly Members[], undo: Undo): number => {
    let growth = 0;
    for (const object of objects) {
      const place = places.push(object) - 1;
      index.enterAll(place, object);
      undo.push(() => {
        index.leaveAll(place, object);
        places.pop();
      });
      growth += merging.bytesOf(object) + 1;
    }
    return growth;
  };

  /** `null` where it would write too much. */
  const update = (updates: ObjectsEdit['update'], mergeObjects: boolean, undo: Undo): number | null => {
    let growth = 0;
    for (const { key, value, object } of updates) {
      const members = membersOf(object);
      const indexed = Object.keys(object).filter(index.has);
      // A copy: what is written may have the same value again.
      for (const place of [...index.placesOf(key, value)]) {
        written += members;
        if (written > MOST_WRITTEN) return null;
        growth += mergeObjects ? mergeInto(place, object, indexed, undo) : put(place, object, undo);
      }
    }
    return growth;
  };

  const placesToRemove = (remove: ObjectsEdit['remove']): Set<number> => {
    const found = new Set(remove.map(({ key, value }) => index.placesOf(key, value)));
    return new Set([...found].flatMap((some) => [...some]));
  };

  const isTooDeep = (object: Members) => !isShallow(object, MAX_NESTED_DEPTH - 1);

  return {
    /** Adds, updates and removes. Answers false, and changes nothing, where that would burst a limit. */
    edit(edit: ObjectsEdit, mergeObjects: boolean): boolean {
      if (edit.add.some(isTooDeep) || edit.update.some(({ object }) => isTooDeep(object))) return false;
      const undo: Undo = [];
      const added = add(edit.add, undo);
      index.cover(new Set([...edit.update, ...edit.remove].map(({ key }) => key)));
      const updated = update(edit.update, mergeObjects, undo);
      const removed = placesToRemove(edit.remove);
      const after =
        updated !== null &&
        [...removed].reduce(
          (sum, place) => sum - merging.bytesOf(places[place]) - 1,
          bytes + added + updated,
        );
      if (after === false || after > MAX_NESTED_BYTES) {
        undoAll(undo);
        return false;
      }
      bytes = after;
      for (const place of removed) {
        index.leaveAll(place, places[place]!);
        places[place] = null;
      }
      return true;
    },

    isEmpty: () => bytes === 1,
    objects: (): Members[] => places.filter((object) => object !== null),
  };
};

export type ObjectList = ReturnType<typeof createObjectList>;
