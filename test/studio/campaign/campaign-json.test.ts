import { expect, test } from 'vitest';
import { freeVariantId } from '../../../src/studio/campaign/campaign-json.ts';

const used = (...ids: string[]) => ids.map((variant_id) => ({ variant_id }));

test('gives a new variant the first letter that no current or previous variant has', () => {
  expect(freeVariantId([])).toBe('a');
  expect(freeVariantId(used('a', 'kiln'))).toBe('b');
  expect(freeVariantId(used('a', 'c', 'b'))).toBe('d');
});

test('assigns unique numbers after the letters', () => {
  const letters = used(...'abcdefghijklmnopqrstuvwxyz');
  expect(freeVariantId(letters)).toBe('v27');
  expect(freeVariantId([...letters, ...used('v28')])).toBe('v29');
});
