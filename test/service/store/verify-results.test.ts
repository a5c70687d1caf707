import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type ResultsDifference, retryUntilCounted } from '../../../src/service/results/verify.ts';

import { openStore, openStoreReader } from '../../../src/service/store/index.ts';
import { aBannerEvent, recordBannerEvents } from '../../helpers/banner-events.ts';
import { aDatabase, lockBeside, runBeside, waitsFor } from '../../helpers/postgres.ts';
import { byExternalId, NOW } from './examples.ts';

const W = 'demo';

const aStore = async (address: string) => {
  const store = await openStore(address);
  onTestFinished(() => store.close());
  const reader = await openStoreReader(address);
  onTestFinished(() => reader.close());
  return { store, reader };
};

const aFile = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'placard-verify-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'placard.db');
};

test('compares counts and events of one snapshot while the service counts, on PostgreSQL', async () => {
  const url = await aDatabase();
  const { store, reader } = await aStore(url);
  await recordBannerEvents(store, 'kim', [aBannerEvent({ variantId: 'a', timeMs: NOW })], W);
  await store.catchUpResults();
  const { release } = await lockBeside(url, 'LOCK TABLE goal_counts IN ACCESS EXCLUSIVE MODE');
  const differences = reader.verifyResults(W);
  const beside = runBeside(url);
  await expect.poll(() => beside(waitsFor())).toHaveLength(1);
  // Moves the user to another variant.
  await recordBannerEvents(store, 'kim', [aBannerEvent({ variantId: 'b', timeMs: NOW - 1_000 })], W);
  expect((await store.catchUpResults()).isCaughtUp).toBe(true);
  await release();
  expect(await differences).toEqual([]);
});

test.each([
  ['SQLite', aFile],
  ['PostgreSQL', aDatabase],
])('waits until a merge is counted, on %s', async (_, address) => {
  const { store, reader } = await aStore(await address());
  for (const [user, variantId] of [
    ['kim', 'a'],
    ['jo', 'b'],
  ] as const)
    await recordBannerEvents(store, user, [aBannerEvent({ variantId })], W);
  await store.catchUpResults();
  await store.write({
    workspaceId: W,
    lookups: [byExternalId('kim'), byExternalId('jo')],
    nowMs: NOW,
    apply(users) {
      const [kim, jo] = ['kim', 'jo'].map((externalId) => users.create({ externalId }, NOW));
      users.merge(kim!, jo!, NOW);
    },
  });
  const differences: ResultsDifference[][] = [];
  const verified = reader.verifyResults(W).then((found) => differences.push(found));
  // Ends after the first attempt, because a reader of a file runs its jobs in order.
  for (let reads = 0; reads < 5; reads += 1)
    await reader.sampleUsers({ workspaceId: W, size: 1, campaignIds: [] });
  expect(differences).toEqual([]);
  await store.catchUpResults();
  await verified;
  expect(differences).toEqual([[]]);
});

test('verifies again until the results are counted', async () => {
  const found: ResultsDifference[] = [];
  const attempts = [null, null, found];
  expect(await retryUntilCounted(async () => attempts.shift()!)).toBe(found);
  expect(attempts).toEqual([]);
});
