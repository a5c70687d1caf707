import { expect, test } from 'vitest';
import { findUrl, retryImport } from '../../src/client/retry-import.ts';

test.each([
  [
    'Chromium',
    'Failed to fetch dynamically imported module: https://shop.example/a-1.js',
    'https://shop.example/a-1.js',
  ],
  [
    'Firefox',
    'error loading dynamically imported module: http://shop.example/a-1.js',
    'http://shop.example/a-1.js',
  ],
  ['WebKit', 'Importing a module script failed.', undefined],
  ['webpack', 'Loading chunk 147 failed.\n(error: https://shop.example/147.js)', undefined],
])('reads the module to import again from the message of %s, if it contains one', (_, message, address) => {
  expect(findUrl(message)).toBe(address);
});

test('rejects with the first failure if its message names no module, without a second request', async () => {
  const cause = new TypeError('Importing a module script failed.');
  await expect(retryImport(() => Promise.reject(cause))).rejects.toBe(cause);
});
