import { fitsJson, MAX_ARRAY_ELEMENTS, MAX_NESTED_BYTES } from '../../protocol/index.ts';
import type { Scalar } from './check-custom.ts';

/** How many bytes of UTF-8 the value's JSON has. */
export const jsonBytes = (value: unknown): number => {
  if (typeof value === 'number') return String(value).length;
  if (typeof value === 'boolean') return value ? 4 : 5;
  return Buffer.byteLength(JSON.stringify(value));
};

/** What is kept of a list: 500 elements and 100 KiB; the oldest, at the front, make room. */
export const newest = (list: Scalar[]): Scalar[] => {
  const kept = list.length > MAX_ARRAY_ELEMENTS ? list.slice(-MAX_ARRAY_ELEMENTS) : list;
  if (fitsJson(kept, MAX_NESTED_BYTES)) return kept;
  // An element and the comma after it; the last has none, and two brackets are around them.
  const bytes = kept.map((value) => jsonBytes(value) + 1);
  let total = bytes.reduce((sum, each) => sum + each, 1);
  let first = 0;
  for (; total > MAX_NESTED_BYTES; first += 1) total -= bytes[first]!;
  return kept.slice(first);
};
