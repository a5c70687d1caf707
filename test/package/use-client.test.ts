import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { expect, test } from 'vitest';

test('the built hooks say that they run in the browser, which frameworks with server components ask for', async () => {
  const outDir = await mkdtemp(join(tmpdir(), 'placard-build-'));
  try {
    await build({ build: { outDir }, logLevel: 'silent' });
    const built = await readFile(join(outDir, 'react.js'), 'utf8');
    expect(built.split('\n')[0]).toBe('"use client";');
  } finally {
    await rm(outDir, { recursive: true });
  }
}, 60_000);
