import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** The rooms that run in a page, and what they take from the protocol. */
const ROOMS = ['client', 'element', 'react', 'vue', 'templates', 'webview', 'devtools'];
const OPTIONS =
  '--noEmit --strict --skipLibCheck --ignoreConfig --module nodenext --target es2022 --lib es2022,dom,dom.iterable --types react --allowImportingTsExtensions';

test('what runs in a page calls nothing of the language that is younger than ES2022', async () => {
  const entries = [...ROOMS.map((room) => `src/${room}/index.ts`), 'src/client/service-worker.ts'];
  const { stdout } = await promisify(execFile)('node_modules/.bin/tsc', [
    ...OPTIONS.split(' '),
    ...entries,
  ]).catch((failure: { stdout: string }) => failure);
  // The service's half of the protocol comes along, and runs in Node.
  expect(stdout.split('\n').filter((line) => line && !/^src\/protocol\/text\.ts/.test(line))).toEqual([]);
});
