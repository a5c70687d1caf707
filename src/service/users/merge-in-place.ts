import { isRecord, MAX_UPDATED_MEMBERS } from '../../protocol/index.ts';
import { getOwn, setOwn } from '../profiles/profile.ts';
import { isTime, jsonBytes } from './check-custom.ts';

export type Members = Record<string, unknown>;

/** Steps that revert an edit, in the order of the edit. */
export type Undo = (() => void)[];

export const undoAll = (undo: Undo): void => {
  for (const step of undo.reverse()) step();
};

/**
 * Creates the deep merges of one request. Copies a record once, before its first change, because input may be applied again and
 * stored values may be shared. Copying and measuring a record for each of a thousand edits would block other requests.
 */
export const createMerging = () => {
  /** Copies with their number of members, because counting the members of a large object takes as long as copying it. */
  const copies = new Map<object, number>();
  /** Sizes of values that are never modified, in bytes. Cached, because one sent object may be stored at thousands of paths. */
  const sizes = new Map<object, number>();
  let updated = 0;

  const countBytes = (value: unknown): number => {
    if (typeof value !== 'object' || value === null || copies.has(value)) return jsonBytes(value);
    const bytes = sizes.get(value) ?? jsonBytes(value);
    sizes.set(value, bytes);
    return bytes;
  };

  /** Returns a copy of a record, or the record itself if it is already a copy. */
  const toCopy = (record: Members): Members => {
    if (copies.has(record)) return record;
    const copy: Members = {};
    const keys = Object.keys(record);
    for (const key of keys) setOwn(copy, key, record[key]);
    copies.set(copy, keys.length);
    return copy;
  };

  /**
   * Merges `sent` into a copy. Merges objects recursively, and replaces other values. Returns the growth of the copy's JSON in
   * bytes.
   */
  const merge = (copy: Members, sent: Members, undo: Undo): number => {
    let growth = 0;
    for (const key of Object.keys(sent)) {
      const before = getOwn(copy, key);
      const after = sent[key];
      if (isRecord(before) && isRecord(after) && !isTime(after) && !isTime(before)) {
        const inner = toCopy(before);
        if (inner !== before) setOwn<unknown>(copy, key, inner);
        growth += merge(inner, after, undo);
        continue;
      }
      if (before === undefined) {
        const members = copies.get(copy)!;
        copies.set(copy, members + 1);
        // Adds the key with its colon, and a comma unless it is the only member.
        growth += jsonBytes(key) + (members > 0 ? 2 : 1);
        undo.push(() => {
          delete copy[key];
          copies.set(copy, members);
        });
      } else {
        growth -= countBytes(before);
        undo.push(() => setOwn<unknown>(copy, key, before));
      }
      growth += countBytes(after);
      setOwn<unknown>(copy, key, after);
    }
    return growth;
  };

  /** Whether a list update may write this number of members of an object. Each call counts towards the limit. */
  const chargeUpdate = (members: number): boolean => {
    updated += members;
    return updated <= MAX_UPDATED_MEMBERS;
  };

  return { countBytes, toCopy, merge, chargeUpdate };
};

export type Merging = ReturnType<typeof createMerging>;
