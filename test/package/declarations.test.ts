import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const run = promisify(execFile);
const TSC = resolve('node_modules/.bin/tsc');
const ROOMS = ['client', 'element', 'react', 'templates', 'webview', 'server', 'service', 'testing'];
const OPTIONS =
  '--noEmit --strict --skipLibCheck false --module nodenext --target es2023 --types node --allowImportingTsExtensions';

test('the declarations compile where those of packages are checked too', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'placard-types-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  const uses = ROOMS.map((room) => `export type * as ${room} from './dist/${room}/index.d.ts';\n`);
  await writeFile(join(folder, 'uses.ts'), uses.join(''));
  await run(TSC, ['-p', 'src', '--outDir', join(folder, 'dist')]);
  const lib = ['--lib', 'es2024,dom,dom.iterable,esnext.disposable'];
  const { stdout } = await run(TSC, [...OPTIONS.split(' '), ...lib, 'uses.ts'], { cwd: folder }).catch(
    (failure: { stdout: string }) => failure,
  );
  // A dependency's own declarations are not ours to mend.
  expect(stdout.split('\n').filter((line) => /^(dist|uses)/.test(line))).toEqual([]);
});
