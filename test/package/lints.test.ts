import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { packedPackage } from '../helpers/packed-package.ts';

/** What a command line says where it ends with an error. */
const complaints = (command: string, args: string[]): Promise<string> =>
  promisify(execFile)(`node_modules/.bin/${command}`, args).then(
    () => '',
    ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
  );

test('publint has nothing to say of the packed package', async () => {
  const { tarball } = await packedPackage();
  expect(await complaints('publint', ['run', tarball, '--strict'])).toBe('');
});

test('every entry has types that fit how it is imported', async () => {
  const { tarball } = await packedPackage();
  const scripts = ['--exclude-entrypoints', './script', './script-all'];
  expect(await complaints('attw', [tarball, '--profile', 'esm-only', ...scripts])).toBe('');
});
