import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../../src/service/store/index.ts';
import { studioContract } from './contract.ts';

studioContract('SQLite in memory', async () => openStore(':memory:'));

studioContract('a SQLite file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'placard-studio-'));
  const store = await openStore(join(folder, 'placard.db'));
  return {
    ...store,
    close: async () => {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
});

test('delays writes of operators for a locked file, but not reads of users', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'placard-studio-'));
  const store = await openStore(join(folder, 'placard.db'));
  const other = new DatabaseSync(join(folder, 'placard.db'));
  onTestFinished(async () => {
    other.close();
    await store.close();
    await rm(folder, { recursive: true });
  });
  other.exec('BEGIN IMMEDIATE');
  let isStored = false;
  const entry = {
    workspaceId: 'demo',
    atMs: 1,
    operator: 'Mia',
    action: 'campaign.publish',
    subject: '',
    details: '',
  };
  const stored = store.studio.addAudit(entry).then(() => {
    isStored = true;
  });
  const started = performance.now();
  for (let i = 0; i < 100; i += 1) {
    await store.loadTargetingData('demo', 'kim');
    await new Promise(setImmediate);
  }
  expect(isStored).toBe(false);
  expect(performance.now() - started).toBeLessThan(5_000);
  other.exec('ROLLBACK');
  await stored;
  expect(await store.studio.audit('demo', { limit: 10 })).toMatchObject([entry]);
});
