import { expect, test } from 'vitest';
import { compileProperties, type Property } from '../../../src/service/campaigns/personalise.ts';
import { personaliseContext } from '../../../src/service/campaigns/variables.ts';
import fc from '../../helpers/property.ts';

const context = personaliseContext('u-771', null, undefined, new Map());
const type = fc.constantFrom('string' as const, 'image' as const, 'jsonobject' as const);
const property: fc.Arbitrary<Property> = fc.record({
  name: fc.string({ unit: 'grapheme' }),
  type,
  value: fc.jsonValue(),
});

test('serializes static and personalized properties as JSON', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(property, { selector: ({ name }) => name, maxLength: 6 }),
      fc.infiniteStream(fc.boolean()),
      (properties, isFilled) => {
        const mixed = properties.map((each): Property => {
          if (!('value' in each) || !isFilled.next().value) return each;
          const { name, value } = each;
          return { name, type: each.type, renderValue: () => value };
        });
        const plain = properties.map((each) => [
          each.name,
          { type: each.type, value: 'value' in each && each.value },
        ]);
        expect(JSON.parse(compileProperties(mixed)(() => context))).toEqual(
          JSON.parse(JSON.stringify(Object.fromEntries(plain))),
        );
      },
    ),
  );
});

test('does not read the user for static properties', () => {
  const write = compileProperties([{ name: 'headline', type: 'string', value: 'Hello' }]);
  const asked = () => {
    throw new Error('the user was looked at');
  };
  expect(write(asked)).toBe('{"headline":{"type":"string","value":"Hello"}}');
  expect(compileProperties([])(asked)).toBe('{}');
});

test('fails a banner with the name of the property that cannot be rendered', () => {
  const cause = new Error('The output is not a number');
  const broken = (): never => {
    throw cause;
  };
  const write = compileProperties([
    { name: 'headline', type: 'string', value: 'Hello' },
    { name: 'points', type: 'number', renderValue: broken },
  ]);
  expect(() => write(() => context)).toThrow(expect.objectContaining({ property: 'points', cause }));
});
