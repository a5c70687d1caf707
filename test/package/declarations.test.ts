import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const run = promisify(execFile);
const TSC = resolve('node_modules/.bin/tsc');
const ROOMS = [
  'client',
  'element',
  'react',
  'vue',
  'templates',
  'webview',
  'devtools',
  'server',
  'service',
  'testing',
];
const STRICT = '--noEmit --strict --skipLibCheck false --module nodenext --target es2023';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'placard-types-'));
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await run(TSC, ['-p', 'src', '--outDir', join(folder, 'dist')]);
});
afterAll(() => rm(folder, { recursive: true }));

/** What a compiler that checks declarations too says of ours where somebody uses them so. */
const faults = async (uses: string, options: string): Promise<string[]> => {
  await writeFile(join(folder, 'uses.ts'), uses);
  const { stdout } = await run(TSC, [...`${STRICT} ${options} uses.ts`.split(' ')], { cwd: folder }).catch(
    (failure: { stdout: string }) => failure,
  );
  // A dependency's own declarations are not ours to mend.
  return stdout.split('\n').filter((line) => /^(dist|uses)/.test(line));
};

test('the declarations compile where those of packages are checked too', async () => {
  const uses = ROOMS.map((room) => `export type * as ${room} from './dist/${room}/index.d.ts';\n`);
  const options = '--types node --lib es2024,dom,dom.iterable,esnext.disposable';
  expect(await faults(uses.join(''), options)).toEqual([]);
});

test('those of the service worker compile beside the types of workers, which know no page', async () => {
  const uses = `import { installSender } from './dist/client/service-worker.js';
    installSender({ endpoint: 'http://127.0.0.1:8787', apiKey: 'k', appId: 'a' });`;
  expect(await faults(uses, '--lib es2022,webworker')).toEqual([]);
});
