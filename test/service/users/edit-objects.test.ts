import { describe, expect, test } from 'vitest';
import type { ObjectsEdit } from '../../../src/service/users/check-custom.ts';
import { editObjects } from '../../../src/service/users/edit-objects.ts';
import { mergeDeep } from '../../../src/service/users/nested.ts';
import { isRecord } from '../../../src/service/users/own.ts';
import fc from '../../helpers/property.ts';

type Members = Record<string, unknown>;

const edited = (list: Members[], edit: Partial<ObjectsEdit>, mergeObjects = true): unknown => {
  const custom: Members = { list };
  editObjects(custom, 'list', { add: [], update: [], remove: [], ...edit }, mergeObjects);
  return custom['list'];
};
const objects = (count: number, make: (i: number) => Members): Members[] =>
  Array.from({ length: count }, (_, i) => make(i));
const updates = (count: number, make: (i: number) => Members): ObjectsEdit['update'] =>
  objects(count, make).map((object) => ({ key: 'a', value: 1, object }));

/** Contract 3.6 as plainly as it can be said, without limits. */
const plainly = (list: Members[], { add, update, remove }: ObjectsEdit, mergeObjects: boolean): Members[] => {
  const has = (object: Members, key: string, value: unknown) => isRecord(object) && object[key] === value;
  let result = [...list, ...add];
  for (const { key, value, object } of update) {
    result = result.map((before) => {
      if (!has(before, key, value)) return before;
      return mergeObjects ? mergeDeep(before, object) : object;
    });
  }
  return result.filter((object) => !remove.some(({ key, value }) => has(object, key, value)));
};

const key = fc.constantFrom('a', 'b', 'c');
const value = fc.constantFrom(0, 1, '1', true);
const object: fc.Arbitrary<Members> = fc.dictionary(key, fc.oneof(value, fc.dictionary(key, value)), {
  maxKeys: 3,
});
const edit: fc.Arbitrary<ObjectsEdit> = fc.record({
  add: fc.array(object, { maxLength: 2 }),
  update: fc.array(fc.record({ key, value, object }), { maxLength: 5 }),
  remove: fc.array(fc.record({ key, value }), { maxLength: 2 }),
});

test('updates one after the other, each of every object that has the value then, and removes at the end', () => {
  fc.assert(
    fc.property(fc.array(object, { maxLength: 8 }), edit, fc.boolean(), (list, each, mergeObjects) => {
      expect(edited(list, each, mergeObjects)).toEqual(plainly(list, each, mergeObjects));
    }),
    { numRuns: 2_000 },
  );
});

/** Each of these would run for minutes, or out of memory, if its cost were entries times objects. */
describe('an edit in which a small text asks for a lot', () => {
  const list = objects(12_500, () => ({ a: 1 }));

  test.each<[string, Partial<ObjectsEdit>]>([
    [
      'that makes each of many objects longer many times',
      { update: updates(400, (i) => ({ [`k${i}`]: 1 })) },
    ],
    ['that writes many objects over and over', { update: updates(20_000, () => ({ a: 1, b: 1 })) }],
    [
      'that puts a long object in the place of each of many',
      {
        update: updates(1, () => Object.fromEntries(objects(9_500, () => ({})).map((_, i) => [`k${i}`, 1]))),
      },
    ],
  ])('%s is left out whole', (_, asked) => {
    expect(edited(list, asked)).toBe(list);
    expect(edited(list, asked, false)).toBe(list);
  });

  test('that looks for what nobody has leaves the list as it is', () => {
    const remove = Array.from({ length: 100_000 }, (_, i) => ({ key: 'b', value: i }));
    const update = remove.map((sought) => ({ ...sought, object: { c: 1 } }));
    expect(edited(list, { update, remove })).toEqual(list);
  });
});

test('a full list can be written as a whole, and each of its objects alone', () => {
  const full = objects(12_500, () => ({ a: 1 }));
  expect(edited(full, { update: updates(1, () => ({ a: 2 })) })).toEqual(objects(12_500, () => ({ a: 2 })));
  const named = objects(2_000, (id) => ({ id, name: `name of ${id}` }));
  const update = named.map(({ id }) => ({ key: 'id', value: id, object: { seen: true } }));
  expect(edited(named, { update })).toEqual(named.map((each) => ({ ...each, seen: true })));
});

test('makes room in one edit: what is removed does not count', () => {
  const full = objects(390, (id) => ({ id, text: 'x'.repeat(240) }));
  const last = { id: 1_000, text: 'x'.repeat(240) };
  expect(edited(full, { add: Array(50).fill(last) })).toBe(full);
  const remove = full.slice(0, 50).map(({ id }) => ({ key: 'id', value: id }));
  expect(edited(full, { add: Array(50).fill(last), remove })).toEqual([
    ...full.slice(50),
    ...Array(50).fill(last),
  ]);
});
