import type { CustomChange, Scalar } from './check-custom.ts';
import { editObjects } from './edit-objects.ts';
import { fitsNested } from './fits-nested.ts';
import { isShallow, mergeDeep } from './nested.ts';
import { newest } from './newest.ts';
import { getOwn, isRecord, setOwn } from './own.ts';

/** Writes one checked change into a profile's custom attributes. */
export const applyCustom = (
  custom: Record<string, unknown>,
  change: CustomChange,
  mergeObjects: boolean,
): void => {
  const { name } = change;
  switch (change.kind) {
    case 'set':
    case 'list':
    case 'objects':
      setOwn<unknown>(custom, name, change.value);
      break;
    case 'clear':
      delete custom[name];
      break;
    case 'increment': {
      const stored = getOwn(custom, name);
      // Text or a list cannot be counted up: it stays, as an increment of it means nothing.
      if (stored === undefined || typeof stored === 'number') setOwn(custom, name, (stored ?? 0) + change.by);
      break;
    }
    case 'edit list':
      editList(custom, name, change.add, change.remove);
      break;
    case 'object': {
      const stored = getOwn(custom, name);
      const merged = mergeObjects && isRecord(stored) ? mergeDeep(stored, change.value) : change.value;
      if (merged === change.value || (fitsNested(merged) && isShallow(merged))) setOwn(custom, name, merged);
      break;
    }
    case 'edit objects':
      editObjects(custom, name, change.edit, mergeObjects);
  }
};

const editList = (custom: Record<string, unknown>, name: string, add: Scalar[], remove: Scalar[]) => {
  const stored = getOwn(custom, name);
  if (!Array.isArray(stored) && add.length === 0) return;
  // Objects have operators of their own, and no limit of elements: they stay, as this means nothing to them.
  if (Array.isArray(stored) && stored.some(isRecord)) return;
  const list = new Set<Scalar>(Array.isArray(stored) ? (stored as Scalar[]) : []);
  for (const value of add) {
    // What was there moves to the end.
    list.delete(value);
    list.add(value);
  }
  for (const value of remove) list.delete(value);
  setOwn(custom, name, newest([...list]));
};
