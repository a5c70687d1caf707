import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const file = new URL('../../src/service/tune-process.ts', import.meta.url).href;

/** V8's trace of its choice between the generations, in a process that retains every object. */
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

test('allocates every object of a tuned process in the young generation', async () => {
  expect((await choices('')).made).toBeGreaterThan(0);
  const tuned = await choices(`import { tuneProcess } from ${JSON.stringify(file)}; tuneProcess();`);
  // V8 would report a flag that it no longer supports here.
  expect(tuned).toEqual({ made: 0, stderr: '' });
});
