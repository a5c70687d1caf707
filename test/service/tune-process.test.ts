import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const file = new URL('../../src/service/tune-process.ts', import.meta.url).href;

/** What V8 says of its choice between the generations, in a process that keeps every object it makes. */
const choices = async (first: string): Promise<{ made: number; stderr: string }> => {
  const program = `${first}
    const kept = [];
    while (kept.length < 300_000) kept.push({ number: kept.length, list: [kept.length] });`;
  const { stdout, stderr } = await run(process.execPath, [
    '--trace-pretenuring-statistics',
    '--input-type=module',
    '--eval',
    program,
  ]);
  return { made: stdout.match(/AllocationSite/g)?.length ?? 0, stderr };
};

test('a process that is tuned makes every object in the young generation', async () => {
  expect((await choices('')).made).toBeGreaterThan(0);
  const tuned = await choices(`import { tuneProcess } from ${JSON.stringify(file)}; tuneProcess();`);
  // A flag that V8 does not know any more would be named here.
  expect(tuned).toEqual({ made: 0, stderr: '' });
});
