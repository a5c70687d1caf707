import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { packedPackage } from '../helpers/packed-package.ts';

// The hook may take as long as packing.
beforeAll(packedPackage);

test('the built hooks start with the `use client` directive', async () => {
  const { folder } = await packedPackage();
  const built = await readFile(join(folder, 'dist/react.js'), 'utf8');
  expect(built.split('\n')[0]).toBe('"use client";');
});
