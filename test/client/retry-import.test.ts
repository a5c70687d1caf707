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
])('the message of %s names the module to import again, or none', (_, message, address) => {
  expect(findUrl(message)).toBe(address);
});

test('a message without a module returns the first failure and requests nothing else', async () => {
  const cause = new TypeError('Importing a module script failed.');
  await expect(retryImport(() => Promise.reject(cause))).rejects.toBe(cause);
});
