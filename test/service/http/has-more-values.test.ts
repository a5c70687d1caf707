import { expect, test } from 'vitest';
import { hasMoreValues } from '../../../src/service/http/body.ts';
import fc from '../../helpers/property.ts';

const counted = (json: string, values: number) =>
  hasMoreValues(Buffer.from(json), values - 1) && !hasMoreValues(Buffer.from(json), values);

test.each([
  ['[]', 1],
  ['[1,2,3]', 3],
  ['{"a":1,"b":[true,null]}', 4],
  ['[[[[[[]]]]]]', 6],
  ['[{},{},{}]', 6],
  ['["a,b","[{","\\",\\"[","\\\\",[]]', 6],
])('counts %s as %d', (json, values) => {
  expect(counted(json, values)).toBe(true);
});

test('counts a string without a container as zero', () => {
  expect(hasMoreValues(Buffer.from('"[[[[,,,,{{{{"'), 0)).toBe(false);
});

/** Every value except the first of its array or object has a comma before it; the first has the bracket. */
const valuesIn = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0;
  const members = Object.values(value);
  return (
    1 + Math.max(0, members.length - 1) + members.reduce<number>((sum, member) => sum + valuesIn(member), 0)
  );
};

test('counts the values of any JSON, regardless of its strings', () => {
  const texts = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('"', '\\', ',', '[', '{', 'ü') }));
  fc.assert(
    fc.property(
      fc.anything({ key: texts, values: [texts, fc.integer(), fc.boolean()], maxDepth: 4 }),
      (value) => {
        const json = JSON.stringify(value) ?? 'null';
        const most = valuesIn(JSON.parse(json));
        const bytes = Buffer.from(json);
        return !hasMoreValues(bytes, most) && (most === 0 || hasMoreValues(bytes, most - 1));
      },
    ),
  );
});
