import type { ObjectsEdit } from './check-custom.ts';
import { fitsNested } from './fits-nested.ts';
import { isShallow, mergeDeep } from './nested.ts';
import { indexObjects } from './objects-index.ts';
import { getOwn, isRecord, setOwn } from './own.ts';

/**
 * Members that the updates of one edit may write, each as often as it is written. A whole list of 100 KiB has 25,600 at
 * most, where each object has one, and a few thousand as a rule: an edit that writes more is too large in the end, or
 * writes the same objects again and again while all other requests wait.
 */
const MOST_WRITTEN = 50_000;

/** What a merge makes anew: the object and the objects in it, but no list. */
const membersOf = (value: unknown): number => {
  let members = 1;
  if (isRecord(value)) for (const key of Object.keys(value)) members += membersOf(value[key]);
  return members;
};

/** Adds, updates and removes objects of an attribute. An edit that would burst a limit is dropped whole. */
export const editObjects = (
  custom: Record<string, unknown>,
  name: string,
  edit: ObjectsEdit,
  mergeObjects: boolean,
): void => {
  const stored = getOwn(custom, name);
  if (!Array.isArray(stored) && edit.add.length === 0) return;
  if (Array.isArray(stored) && !stored.every(isRecord)) return;
  const objects = [...(Array.isArray(stored) ? stored : []), ...edit.add];
  const index = indexObjects(objects, new Set([...edit.update, ...edit.remove].map(({ key }) => key)));

  let written = 0;
  for (const { key, value, object } of edit.update) {
    // A copy: what is written may have the same value again.
    for (const place of [...index.placesOf(key, value)]) {
      const before = objects[place]!;
      const after = mergeObjects ? mergeDeep(before, object) : object;
      written += membersOf(after);
      if (written > MOST_WRITTEN) return;
      index.move(place, before, after);
      objects[place] = after;
    }
  }
  const removed = new Set<number>();
  for (const { key, value } of edit.remove) {
    const places = index.placesOf(key, value);
    for (const place of places) removed.add(place);
    places.clear();
  }
  const left = objects.filter((_, place) => !removed.has(place));
  if (fitsNested(left) && isShallow(left)) setOwn(custom, name, left);
};
