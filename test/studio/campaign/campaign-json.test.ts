import { expect, test } from 'vitest';
import { freeVariantId } from '../../../src/studio/campaign/campaign-json.ts';

const used = (...ids: string[]) => ids.map((variant_id) => ({ variant_id }));

test('a new variant gets the first letter that no variant has or had', () => {
  expect(freeVariantId([])).toBe('a');
  expect(freeVariantId(used('a', 'kiln'))).toBe('b');
  expect(freeVariantId(used('a', 'c', 'b'))).toBe('d');
});

test('after the letters come unique numbers', () => {
  const letters = used(...'abcdefghijklmnopqrstuvwxyz');
  expect(freeVariantId(letters)).toBe('v27');
  expect(freeVariantId([...letters, ...used('v28')])).toBe('v29');
});
