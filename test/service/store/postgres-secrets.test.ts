import { expect, test } from 'vitest';
import { workspaceBannerIds } from '../../../src/service/campaigns/workspace-banner-ids.ts';
import { openStore } from '../../../src/service/store/index.ts';
import { createSecrets } from '../../../src/service/store/postgres/secrets.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { aDatabase, runBeside } from '../../helpers/postgres.ts';

const aRun = async () => {
  const url = await aDatabase();
  await (await openStore(url)).close();
  return runBeside(url);
};

test('replicas that ask for a new secret at once get the same one', async () => {
  const run = await aRun();
  const secrets = await Promise.all(Array.from({ length: 8 }, () => createSecrets(run)('demo')));
  expect(new Set(secrets).size).toBe(1);
  expect(await run('SELECT secret FROM secrets')).toEqual([{ secret: secrets[0] }]);
});

test('a known secret is answered while the database cannot be asked, and one that is not is asked for again', async () => {
  const run = await aRun();
  let isAway = false;
  const secret = createSecrets((text, values) =>
    isAway ? Promise.reject(new Error('away')) : run(text, values),
  );
  const known = await secret('demo');
  isAway = true;
  expect(await secret('demo')).toBe(known);
  await expect(secret('other')).rejects.toThrow('away');
  isAway = false;
  expect(await secret('other')).toMatch(/^[0-9a-f]{64}$/);
});

test('banner IDs follow the secret', async () => {
  let secret = 'first';
  const idsOf = workspaceBannerIds({ secret: async () => secret } as unknown as Store);
  const before = await idsOf('demo');
  expect(await idsOf('demo')).toBe(before);
  secret = 'second';
  expect(await idsOf('demo')).not.toBe(before);
});
