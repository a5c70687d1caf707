import { expect, test } from 'vitest';
import { workspaceBannerIds } from '../../../src/service/campaigns/workspace-banner-ids.ts';
import { openStore } from '../../../src/service/store/index.ts';
import { createSecrets } from '../../../src/service/store/postgres/secrets.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { aDatabase, runBeside } from '../../helpers/postgres.ts';

const FRESH_MS = 5_000;

/** Two replicas of one database, whose clocks the test moves. */
const aPair = async () => {
  const url = await aDatabase();
  await (await openStore(url)).close();
  const run = runBeside(url);
  let now = 0;
  const replica = () => createSecrets(run, () => now);
  return {
    run,
    replica,
    later() {
      now += FRESH_MS;
    },
  };
};

test('a secret that the database has lost is put back, and everyone keeps it', async () => {
  const { run, replica, later } = await aPair();
  const one = replica();
  const secret = await one.of('demo');
  await run('DELETE FROM secrets');
  later();
  expect(await one.of('demo')).toBe(secret);
  await expect.poll(() => run('SELECT secret FROM secrets')).toEqual([{ secret }]);
  expect(await replica().of('demo')).toBe(secret);
});

test('where the database has another secret by now, that one goes', async () => {
  const { run, replica, later } = await aPair();
  const one = replica();
  await one.of('demo');
  await run('DELETE FROM secrets');
  const secret = await replica().of('demo');
  expect(await one.of('demo')).not.toBe(secret);
  later();
  await expect.poll(() => one.of('demo')).toBe(secret);
});

test('what is remembered goes on while the database cannot be asked', async () => {
  const { run } = await aPair();
  let isAway = false;
  let now = 0;
  const secrets = createSecrets(
    (text, values) => (isAway ? Promise.reject(new Error('away')) : run(text, values)),
    () => now,
  );
  const secret = await secrets.of('demo');
  isAway = true;
  now += FRESH_MS;
  expect(await secrets.of('demo')).toBe(secret);
  expect(await secrets.of('demo')).toBe(secret);
});

test('banner IDs follow the secret', async () => {
  let secret = 'first';
  const idsOf = workspaceBannerIds({ secret: async () => secret } as unknown as Store);
  const before = await idsOf('demo');
  expect(await idsOf('demo')).toBe(before);
  secret = 'second';
  expect(await idsOf('demo')).not.toBe(before);
});
