import { isRecord, MAX_UPDATED_MEMBERS } from '../../protocol/index.ts';
import { getOwn, setOwn } from '../profiles/profile.ts';
import { isTime, jsonBytes } from './check-custom.ts';

export type Members = Record<string, unknown>;

/** What takes an edit back, in the order in which it was done. */
export type Undo = (() => void)[];

export const undoAll = (undo: Undo): void => {
  for (const step of undo.reverse()) step();
};

/**
 * Deep merges of one request. What was sent belongs to the request, which may be applied again, and what is stored may
 * be looked at elsewhere: a record is copied before its first change, and once only. Copying and measuring it for each
 * of a thousand edits would keep all other requests waiting.
 */
export const createMerging = () => {
  /** Our copies, with the number of their members: asking a large object for it takes as long as copying it. */
  const copies = new Map<object, number>();
  /** Bytes of values that no write changes: one sent object may be stored at thousands of paths. */
  const sizes = new Map<object, number>();
  let updated = 0;

  const bytesOf = (value: unknown): number => {
    if (typeof value !== 'object' || value === null || copies.has(value)) return jsonBytes(value);
    const bytes = sizes.get(value) ?? jsonBytes(value);
    sizes.set(value, bytes);
    return bytes;
  };

  /** The record itself where it is a copy already. */
  const copyOf = (record: Members): Members => {
    if (copies.has(record)) return record;
    const copy: Members = {};
    const keys = Object.keys(record);
    for (const key of keys) setOwn(copy, key, record[key]);
    copies.set(copy, keys.length);
    return copy;
  };

  /**
   * Writes the members of `sent` into a copy, objects member by member, all else in the place of what was there.
   * Answers by how many bytes its JSON has become longer.
   */
  const merge = (copy: Members, sent: Members, undo: Undo): number => {
    let growth = 0;
    for (const key of Object.keys(sent)) {
      const before = getOwn(copy, key);
      const after = sent[key];
      if (isRecord(before) && isRecord(after) && !isTime(after) && !isTime(before)) {
        const inner = copyOf(before);
        if (inner !== before) setOwn<unknown>(copy, key, inner);
        growth += merge(inner, after, undo);
        continue;
      }
      if (before === undefined) {
        const members = copies.get(copy)!;
        copies.set(copy, members + 1);
        // The key with its colon, and a comma unless it is alone.
        growth += jsonBytes(key) + (members > 0 ? 2 : 1);
        undo.push(() => {
          delete copy[key];
          copies.set(copy, members);
        });
      } else {
        growth -= bytesOf(before);
        undo.push(() => setOwn<unknown>(copy, key, before));
      }
      growth += bytesOf(after);
      setOwn<unknown>(copy, key, after);
    }
    return growth;
  };

  /** Whether an update of a list may write so many members of an object. They count as often as they are written. */
  const mayUpdate = (members: number): boolean => {
    updated += members;
    return updated <= MAX_UPDATED_MEMBERS;
  };

  return { bytesOf, copyOf, merge, mayUpdate };
};

export type Merging = ReturnType<typeof createMerging>;
