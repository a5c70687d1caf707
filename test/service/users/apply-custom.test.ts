import { describe, expect, test } from 'vitest';
import { isRecord, MAX_UPDATED_MEMBERS } from '../../../src/protocol/index.ts';
import { createCustomWriter } from '../../../src/service/users/apply-custom.ts';
import type { CustomChange, ObjectsEdit } from '../../../src/service/users/check-custom.ts';
import fc from '../../helpers/property.ts';

type Members = Record<string, unknown>;

interface Asked {
  change: CustomChange;
  mergeObjects: boolean;
}

/** Applies the changes of one request. Returns whether each was allowed. */
const write = (custom: Members, asked: readonly Asked[]): boolean[] => {
  const writer = createCustomWriter();
  const allowed = asked.map(
    ({ change, mergeObjects }) => writer.write(custom, change, mergeObjects) === null,
  );
  writer.finish();
  return allowed;
};

const edited = (list: Members[], edit: Partial<ObjectsEdit>, mergeObjects = true): unknown => {
  const custom: Members = { list };
  const whole = { add: [], update: [], remove: [], ...edit };
  write(custom, [{ change: { name: 'list', kind: 'edit_objects', edit: whole }, mergeObjects }]);
  return custom['list'];
};
const objects = (count: number, make: (i: number) => Members): Members[] =>
  Array.from({ length: count }, (_, i) => make(i));
const updates = (count: number, make: (i: number) => Members): ObjectsEdit['update'] =>
  objects(count, make).map((object) => ({ key: 'a', value: 1, object }));

const mergeDeep = (stored: Members, sent: Members): Members => {
  const merged = { ...stored };
  for (const [key, after] of Object.entries(sent)) {
    const before = merged[key];
    merged[key] = isRecord(before) && isRecord(after) ? mergeDeep(before, after) : after;
  }
  return merged;
};

/** Reference implementation of contract 3.6, without limits. */
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

test('updates matching objects in order, and then removes objects', () => {
  fc.assert(
    fc.property(fc.array(object, { maxLength: 8 }), edit, fc.boolean(), (list, each, mergeObjects) => {
      expect(edited(list, each, mergeObjects)).toEqual(plainly(list, each, mergeObjects));
    }),
    { numRuns: 2_000 },
  );
});

/** Each would take minutes or run out of memory if its cost were entries × objects. */
describe('an edit in which a small text causes a lot of work', () => {
  const list = objects(12_500, () => ({ a: 1 }));

  test.each<[string, Partial<ObjectsEdit>]>([
    ['that extends each of many objects many times', { update: updates(400, (i) => ({ [`k${i}`]: 1 })) }],
    ['that writes many objects repeatedly', { update: updates(20_000, () => ({ a: 1, b: 1 })) }],
    [
      'that replaces many objects with a long one',
      {
        update: updates(1, () => Object.fromEntries(objects(9_500, () => ({})).map((_, i) => [`k${i}`, 1]))),
      },
    ],
  ])('drops %s completely', (_, asked) => {
    expect(edited(list, asked)).toEqual(list);
    expect(edited(list, asked, false)).toEqual(list);
  });

  test('keeps the list if it searches for a value without a match', () => {
    const remove = Array.from({ length: 100_000 }, (_, i) => ({ key: 'b', value: i }));
    const update = remove.map((sought) => ({ ...sought, object: { c: 1 } }));
    expect(edited(list, { update, remove })).toEqual(list);
  });
});

test('accepts a replacement of a full list and of each of its objects', () => {
  const full = objects(12_500, () => ({ a: 1 }));
  expect(edited(full, { update: updates(1, () => ({ a: 2 })) })).toEqual(objects(12_500, () => ({ a: 2 })));
  const named = objects(2_000, (id) => ({ id, name: `name of ${id}` }));
  const update = named.map(({ id }) => ({ key: 'id', value: id, object: { seen: true } }));
  expect(edited(named, { update })).toEqual(named.map((each) => ({ ...each, seen: true })));
});

test('allows additions instead of objects that the same edit removes', () => {
  const full = objects(390, (id) => ({ id, text: 'x'.repeat(240) }));
  const last = { id: 1_000, text: 'x'.repeat(240) };
  expect(edited(full, { add: Array(50).fill(last) })).toEqual(full);
  const remove = full.slice(0, 50).map(({ id }) => ({ key: 'id', value: id }));
  expect(edited(full, { add: Array(50).fill(last), remove })).toEqual([
    ...full.slice(50),
    ...Array(50).fill(last),
  ]);
});

const name = fc.constantFrom('p', 'q');
const nested: fc.Arbitrary<Members> = fc.letrec<{ members: Members }>((tie) => ({
  members: fc.dictionary(key, fc.oneof({ depthSize: 'medium' }, value, tie('members')), { maxKeys: 3 }),
})).members;
const long = fc.integer({ min: 40, max: 51 }).map((kilobytes) => ({ long: 'x'.repeat(kilobytes * 1_024) }));
const text = fc.oneof({ weight: 5, arbitrary: nested }, { weight: 1, arbitrary: long });
const change: fc.Arbitrary<CustomChange> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ name, kind: fc.constant('object' as const), value: text }) },
  {
    weight: 5,
    arbitrary: fc.record({
      name,
      kind: fc.constant('edit_objects' as const),
      edit: fc.record({
        add: fc.array(text, { maxLength: 2 }),
        update: fc.array(fc.record({ key, value, object: text }), { maxLength: 3 }),
        remove: fc.array(fc.record({ key, value }), { maxLength: 2 }),
      }),
    }),
  },
  fc.record({ name, kind: fc.constant('objects' as const), value: fc.array(object, { maxLength: 4 }) }),
  fc.record({ name, kind: fc.constant('set' as const), value }),
  fc.record({ name, kind: fc.constant('clear' as const) }),
  fc.record({ name, kind: fc.constant('increment' as const), by: fc.constant(1) }),
  fc.record({
    name,
    kind: fc.constant('edit_list' as const),
    add: fc.array(value, { maxLength: 2 }),
    remove: fc.array(value, { maxLength: 2 }),
  }),
);

describe('many changes in one request', () => {
  test('have the same result as in separate requests, without modifying sent and stored values', () => {
    const asked = fc.record({ change, mergeObjects: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(asked, { maxLength: 12 }),
        fc.array(asked, { maxLength: 4 }),
        (changes, before) => {
          const together: Members = {};
          write(together, before);
          const [stored, alone] = [{ ...together }, { ...together }];
          const texts = JSON.stringify([stored, changes]);
          write(together, changes);
          expect(JSON.stringify([stored, changes])).toBe(texts);
          // Parses each separately, so that no cached state of an earlier one can help.
          for (const each of changes) write(alone, [JSON.parse(JSON.stringify(each)) as Asked]);
          expect(together).toEqual(alone);
          for (const left of Object.values(together)) {
            expect(Buffer.byteLength(JSON.stringify(left))).toBeLessThanOrEqual(102_400);
          }
        },
      ),
      { numRuns: 600 },
    );
  });

  /** Objects that count reads of one of their members. */
  const counted = (count: number) => {
    const reads = { count: 0 };
    const get = (target: Members, property: string) => {
      reads.count += 1;
      return target[property];
    };
    return { reads, objects: objects(count, (id) => new Proxy<Members>({ id }, { get: get as never })) };
  };
  const nothing = { add: [], update: [], remove: [] };
  const asking = (edit: (i: number) => Partial<ObjectsEdit>): Asked[] =>
    Array.from({ length: 500 }, (_, i) => ({
      change: { name: 'a', kind: 'edit_objects', edit: { ...nothing, ...edit(i) } },
      mergeObjects: true,
    }));

  test.each<[string, Asked[]]>([
    ['additions', asking((id) => ({ add: [{ id: 10_000 + id }] }))],
    [
      'updates of one object',
      asking((id) => ({ update: [{ key: 'id', value: id, object: { seen: true } }] })),
    ],
    ['removals of one object', asking((value) => ({ remove: [{ key: 'id', value }] }))],
    ['removals without a match', asking((value) => ({ remove: [{ key: `k${value}`, value }] }))],
    ['additions that are too large', asking(() => ({ add: [{ text: 'x'.repeat(100_000) }] }))],
  ])('read a large array of objects a few times, not once per 500 %s', (_, asked) => {
    const { reads, objects } = counted(1_000);
    write({ a: objects }, asked);
    expect(reads.count).toBeLessThan(10 * objects.length);
  });

  test('read a large object a few times, not once per 500 merges', () => {
    const { reads, objects } = counted(1_000);
    const custom: Members = { a: Object.fromEntries(objects.map((each, i) => [`k${i}`, each])) };
    write(
      custom,
      Array.from({ length: 500 }, (_, i) => ({
        change: { name: 'a', kind: 'object', value: { [`k${i}`]: { seen: i } } },
        mergeObjects: true,
      })),
    );
    expect(reads.count).toBeLessThan(10 * objects.length);
    expect(custom['a']).toMatchObject({
      k0: { id: 0, seen: 0 },
      k499: { id: 499, seen: 499 },
      k500: { id: 500 },
    });
  });

  test('write a large list a few times, not 500 times, and report changes above the limit', () => {
    const custom: Members = { a: objects(4_000, () => ({ a: 1 })) };
    const allowed = write(
      custom,
      asking((b) => ({ update: [{ key: 'a', value: 1, object: { b } }], add: [{ c: b }] })),
    );
    // An update counts its members and the object itself: two, for each of 4,000 objects.
    const times = Math.floor(MAX_UPDATED_MEMBERS / (2 * 4_000));
    expect(allowed).toEqual(allowed.map((_, i) => i < times));
    const left = custom['a'] as Members[];
    expect(left).toHaveLength(4_000 + times);
    expect(left[0]).toEqual({ a: 1, b: times - 1 });
  });
});
