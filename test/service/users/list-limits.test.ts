import { expect, test } from 'vitest';
import { MAX_NESTED_BYTES } from '../../../src/protocol/index.ts';
import { jsonBytes, newest } from '../../../src/service/users/check-custom.ts';

/** 400 elements whose JSON has exactly this many bytes. */
const getList = (bytes: number): string[] => {
  const list = Array.from({ length: 400 }, (_, i) => `${i}`.padStart(200, '-'));
  return [...list.slice(1), 'x'.repeat(200 + bytes - jsonBytes(list))];
};

test('keeps a list of 100 KiB', () => {
  const list = getList(MAX_NESTED_BYTES);
  expect(jsonBytes(list)).toBe(MAX_NESTED_BYTES);
  expect(newest(list)).toEqual(list);
});

test('drops only the elements of a longer list that exceed 100 KiB', () => {
  const list = getList(MAX_NESTED_BYTES);
  expect(newest(['oldest', ...list])).toEqual(list);
  expect(newest(['oldest', ...list.slice(0, -1), `${list.at(-1)}x`])).toEqual([
    ...list.slice(1, -1),
    `${list.at(-1)}x`,
  ]);
});
