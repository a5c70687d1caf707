import { execFile } from 'node:child_process';
import { beforeAll, expect, test } from 'vitest';
import { packedPackage } from '../helpers/packed-package.ts';

let tarball: string;
beforeAll(async () => {
  ({ tarball } = await packedPackage());
});

/** Rejects if the tool is missing or killed, because then nothing was checked. */
const runTool = (name: string, args: string[]): Promise<{ code: number; output: string }> =>
  new Promise((resolve, reject) => {
    execFile(`node_modules/.bin/${name}`, args, (failure, stdout, stderr) => {
      if (failure && typeof failure.code !== 'number') reject(failure);
      else resolve({ code: Number(failure?.code ?? 0), output: stdout + stderr });
    });
  });

test('the packed package passes publint', async () => {
  const { code, output } = await runTool('publint', ['run', tarball, '--strict']);
  expect(output).toContain('All good!');
  expect(code).toBe(0);
});

test('every entry has types that match its module format', async () => {
  const scripts = ['--exclude-entrypoints', './script', './script-all'];
  const { code, output } = await runTool('attw', [tarball, '--profile', 'esm-only', ...scripts]);
  expect(code, output).toBe(0);
  for (const entry of ['placard', 'placard/react', 'placard/service', 'placard/testing']) {
    expect(output).toContain(`"${entry}"`);
  }
});
