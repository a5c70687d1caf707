import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** Modules that run in a browser, with their part of the protocol. */
const ROOMS = ['client', 'element', 'react', 'vue', 'templates', 'webview', 'devtools'];
const OPTIONS =
  '--noEmit --strict --skipLibCheck --ignoreConfig --module nodenext --target es2022 --lib es2022,dom,dom.iterable --types react --allowImportingTsExtensions --checkers 1';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'placard-language-'));
});
afterAll(() => rm(folder, { recursive: true }));

test('page code uses no language feature newer than ES2022', async () => {
  // Positive control: the compiler must reject this file.
  const younger = join(folder, 'younger.mts');
  await writeFile(younger, 'export const turned = [1, 2].toReversed();\n');
  const entries = [...ROOMS.map((room) => `src/${room}/index.ts`), 'src/client/service-worker.ts'];
  const { stdout } = await promisify(execFile)('node_modules/.bin/tsc', [
    ...OPTIONS.split(' '),
    ...entries,
    younger,
  ]).catch((failure: { stdout: string }) => failure);
  // The server side of the protocol is imported too, but runs only in Node.
  const complaints = stdout.split('\n').filter((line) => line && !/^src\/protocol\/text\.ts/.test(line));
  expect(complaints).toEqual([expect.stringMatching(/younger\.mts.* 'toReversed' does not exist/)]);
});
