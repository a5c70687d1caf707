import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('a process that started PostgreSQL for its tests keeps the exit code that they gave it', () => {
  const script = `
    import { startPostgres } from './test/helpers/postgres-server.ts';
    const server = await startPostgres();
    process.exitCode = 3;
    await server.stop();`;
  const { status } = spawnSync(process.execPath, ['--input-type=module', '--eval', script]);
  expect(status).toBe(3);
});
