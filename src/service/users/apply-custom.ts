import {
  isRecord,
  MAX_CUSTOM_ATTRIBUTES,
  MAX_NESTED_BYTES,
  tooManyAttributes,
  tooManyUpdates,
} from '../../protocol/index.ts';
import { createKeyQuota, getOwn, setOwn } from '../profiles/profile.ts';
import type { CustomChange, ObjectsEdit, Scalar } from './check-custom.ts';
import { jsonBytes, newest } from './check-custom.ts';
import { createMerging, type Members, type Undo, undoAll } from './merge-in-place.ts';
import { createObjectList, type EditOutcome, type ObjectList } from './object-list.ts';

/** Whether the change creates a missing attribute. */
const createsAttribute = (change: CustomChange): boolean => {
  if (change.kind === 'edit_list') return change.add.length > 0;
  return change.kind === 'edit_objects' ? change.edit.add.length > 0 : change.kind !== 'clear';
};

/**
 * Creates a writer that applies the checked custom-attribute changes of one request to profiles. It does not modify previous
 * values. `keyQuota` is the request's key quota.
 */
export const createCustomWriter = (keyQuota = createKeyQuota()) => {
  const merging = createMerging();
  /** Sizes of objects with merged members, in bytes. */
  const sizes = new Map<Members, number>();
  /** Open arrays of objects, by the custom attributes of a profile, then by name. */
  const lists = new Map<Members, Map<string, ObjectList>>();

  const mergeObject = (custom: Members, name: string, stored: Members, sent: Members) => {
    const copy = merging.toCopy(stored);
    setOwn<unknown>(custom, name, copy);
    const size = sizes.get(copy) ?? jsonBytes(copy);
    const undo: Undo = [];
    const merged = size + merging.merge(copy, sent, undo);
    if (merged > MAX_NESTED_BYTES) undoAll(undo);
    sizes.set(copy, merged > MAX_NESTED_BYTES ? size : merged);
  };

  const open = (custom: Members, name: string, list: ObjectList) => {
    const byName = lists.get(custom) ?? new Map<string, ObjectList>();
    lists.set(custom, byName.set(name, list));
  };

  const editObjects = (
    custom: Members,
    name: string,
    edit: ObjectsEdit,
    mergeObjects: boolean,
  ): EditOutcome => {
    // Charges for opening a list, which costs as much as updating it.
    if (edit.update.length > 0 && !merging.chargeUpdate(0)) return 'too_many_updates';
    const opened = lists.get(custom)?.get(name);
    if (opened) return opened.edit(edit, mergeObjects);
    const stored = getOwn(custom, name);
    const isList = Array.isArray(stored);
    // An edit has no effect on a value that is not a list of objects.
    if (isList ? !stored.every(isRecord) : edit.add.length === 0) return 'applied';
    const list = createObjectList(isList ? stored : [], merging);
    const outcome = list.edit(edit, mergeObjects);
    if (outcome === 'applied' || isList) open(custom, name, list);
    return outcome;
  };

  return {
    /**
     * Writes an attribute. Returns the reason that it was not changed, if the profile has too many attributes or the request
     * updates too much; otherwise `null`.
     */
    write(custom: Members, change: CustomChange, mergeObjects: boolean): string | null {
      const { name } = change;
      const list = lists.get(custom)?.get(name);
      const isNew = !list && getOwn(custom, name) === undefined;
      const isCreated = isNew && createsAttribute(change);
      if (isCreated && !keyQuota.tryReserve(custom, name, MAX_CUSTOM_ATTRIBUTES))
        return tooManyAttributes(name);
      if (change.kind === 'edit_objects') {
        const outcome = editObjects(custom, name, change.edit, mergeObjects);
        if (isCreated && outcome !== 'applied') keyQuota.release(custom);
        return outcome === 'too_many_updates' ? tooManyUpdates(name) : null;
      }
      if (!isNew && change.kind === 'clear') keyQuota.release(custom);
      if (list) {
        // List edits and increments have no effect on a list of objects.
        if ((change.kind === 'edit_list' || change.kind === 'increment') && !list.isEmpty()) return null;
        setOwn<unknown>(custom, name, list.objects());
        lists.get(custom)?.delete(name);
      }
      const stored = getOwn(custom, name);
      if (change.kind === 'object' && mergeObjects && isRecord(stored)) {
        mergeObject(custom, name, stored, change.value);
      } else applyChange(custom, change);
      return null;
    },

    /** Stores the edited arrays of objects in their profiles. Call it after the last change. */
    finish() {
      for (const [custom, byName] of lists) {
        for (const [name, list] of byName) setOwn<unknown>(custom, name, list.objects());
      }
    },
  };
};

/** Applies one change, except edits of lists of objects. */
const applyChange = (custom: Members, change: Exclude<CustomChange, { kind: 'edit_objects' }>) => {
  const { name } = change;
  switch (change.kind) {
    case 'set':
    case 'list':
    case 'objects':
    case 'object':
      setOwn<unknown>(custom, name, change.value);
      break;
    case 'clear':
      delete custom[name];
      break;
    case 'increment': {
      const stored = getOwn(custom, name);
      // An increment has no effect on a string or a list.
      if (stored === undefined || typeof stored === 'number')
        setOwn<unknown>(custom, name, (stored ?? 0) + change.by);
      break;
    }
    case 'edit_list':
      editList(custom, name, change.add, change.remove);
  }
};

const editList = (custom: Members, name: string, add: Scalar[], remove: Scalar[]) => {
  const stored = getOwn(custom, name);
  if (!Array.isArray(stored) && add.length === 0) return;
  // A list edit has no effect on a list of objects.
  if (Array.isArray(stored) && stored.some(isRecord)) return;
  const list = new Set<Scalar>(Array.isArray(stored) ? stored : []);
  for (const value of add) {
    // An existing element moves to the end.
    list.delete(value);
    list.add(value);
  }
  for (const value of remove) list.delete(value);
  setOwn<unknown>(custom, name, newest([...list]));
};
