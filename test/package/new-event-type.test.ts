import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

test('a new event type causes a compiler error in each table without it', async () => {
  // Inside the repository, so that imports resolve.
  const folder = await mkdtemp(join('node_modules', '.new-event-type-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await Promise.all(
    ['client', 'devtools', 'protocol', 'service', 'templates'].map((room) =>
      cp(`src/${room}`, join(folder, 'src', room), { recursive: true }),
    ),
  );
  const protocol = join(folder, 'src/protocol/banners-track.ts');
  const text = await readFile(protocol, 'utf8');
  const changed = text.replace(/(?<=EVENT_TYPES = \[.*)\]/, ", 'expand']");
  expect(changed).not.toBe(text);
  await writeFile(protocol, changed);
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: '../../tsconfig.json',
      include: ['src/client', 'src/devtools', 'src/service'],
    }),
  );
  const { stdout } = await promisify(execFile)('node_modules/.bin/tsc', [
    '-p',
    folder,
    '--checkers',
    '1',
  ]).catch((failure: { stdout: string }) => failure);
  // Other errors follow from these.
  const errors = [...stdout.matchAll(/src\/(\S+)\(\d+,\d+\): error .*'expand' is missing/g)];
  expect(errors.map(([, file]) => file).sort()).toEqual([
    'client/track.ts',
    'protocol/banners-track.ts',
    'service/measures.ts',
  ]);
});
