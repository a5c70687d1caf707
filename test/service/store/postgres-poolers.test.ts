import { Client } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openStore, openStoreReader } from '../../../src/service/index.ts';
import { aWorkspace } from '../../helpers/a-workspace.ts';
import { inPath, needs } from '../../helpers/machine.ts';
import { startPgBouncer } from '../../helpers/pgbouncer.ts';
import { aDatabase } from '../../helpers/postgres.ts';
import { asServer, runService } from '../../helpers/running-service.ts';

const SHARED = /^The URL leads to a connection pooler in transaction or statement mode/;

describe('behind PgBouncer', needs('apt-get install pgbouncer', inPath('pgbouncer') !== undefined), () => {
  test.each([
    ['transaction', ''],
    ['statement', ''],
    ['transaction', 'server_round_robin = 1\nmin_pool_size = 3'],
    ['transaction', 'default_pool_size = 1'],
  ] as const)('does not open in %s mode (%s)', async (mode, settings) => {
    const database = await aDatabase();
    const url = await startPgBouncer(database, { mode, settings });
    await expect(openStore(url)).rejects.toThrow(SHARED);
    await expect(openStoreReader(url)).rejects.toThrow(SHARED);
    // The next client of the pooled connections sees none of our session state.
    const other = new Client({ connectionString: url });
    onTestFinished(() => other.end());
    await other.connect();
    const { rows } = await other.query(
      `SELECT to_regclass('users') AS users, current_setting('enable_seqscan') AS scan,
         coalesce(current_setting('placard.session', true), '') AS session`,
    );
    expect(rows).toEqual([{ users: null, scan: 'on', session: '' }]);
  });

  test('stores every write in session mode, with its own settings', async () => {
    const url = await startPgBouncer(await aDatabase(), { mode: 'session' });
    const store = await openStore(url);
    const service = await runService([aWorkspace()], { store });
    onTestFinished(() => service.stop());
    const statuses = await Promise.all(
      Array.from({ length: 40 }, async (_, at) => {
        const attributes = [{ external_id: `u-${at}`, tier: 'gold' }];
        return (await service.call('POST', '/users/track', { ...asServer, body: { attributes } })).status;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([201]));
  });
});
