// @vitest-environment node
import { expect, test } from 'vitest';

test('the element can be imported where there is no DOM', async () => {
  expect('document' in globalThis).toBe(false);
  const { PlacardBanner, providePlacard } = await import('../../src/element/index.ts');
  expect(typeof PlacardBanner).toBe('function');
  expect(() => providePlacard(null)).not.toThrow();
});
