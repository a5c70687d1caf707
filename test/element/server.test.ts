// @vitest-environment node
import { expect, test } from 'vitest';

test('can be imported without a DOM', async () => {
  expect('document' in globalThis).toBe(false);
  const { PlacardBanner, providePlacard } = await import('../../src/element/index.ts');
  expect(typeof PlacardBanner).toBe('function');
  expect(() => providePlacard(null)).not.toThrow();
});
