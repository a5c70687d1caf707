import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openStore, openStoreReader } from '../../../src/service/store/index.ts';
import { aBannerEvent, recordBannerEvents } from '../../helpers/banner-events.ts';

const folder = mkdtempSync(join(tmpdir(), 'placard-jobs-'));
afterAll(() => rmSync(folder, { recursive: true }));

const aStore = async (name: string) => {
  const store = await openStore(join(folder, name));
  await recordBannerEvents(store, 'u-1', [aBannerEvent()]);
  return store;
};

test('recounts without blocking the event loop', async () => {
  const store = await aStore('beside.db');
  const order: string[] = [];
  const counting = store.verifyResults('demo').then(() => order.push('verifyResults'));
  setImmediate(() => order.push('a turn of the event loop'));
  await counting;
  expect(order).toEqual(['a turn of the event loop', 'verifyResults']);
  await store.close();
});

test('runs jobs one at a time, and continues after a failure', async () => {
  const store = await aStore('queue.db');
  const fates = await Promise.allSettled([
    store.verifyResults('demo'),
    store.verifyResults([] as never),
    store.verifyResults('demo'),
  ]);
  expect(fates).toMatchObject([
    { status: 'fulfilled', value: [] },
    { status: 'rejected', reason: { message: expect.stringContaining('cannot be bound') } },
    { status: 'fulfilled', value: [] },
  ]);
  await store.close();
});

test('cancels a running count on close', async () => {
  const store = await aStore('closed.db');
  const counting = store.verifyResults('demo');
  const ended = expect(counting).rejects.toThrow('The store is closed');
  await store.close();
  await ended;
  await expect(store.sampleUsers({ workspaceId: 'demo', size: 10, campaignIds: ['c'] })).rejects.toThrow(
    'The store is closed',
  );
});

test('recounts a workspace while a service writes the file', async () => {
  const store = await aStore('live.db');
  const reader = await openStoreReader(join(folder, 'live.db'));
  expect(await reader.verifyResults('demo')).toEqual([]);
  await reader.close();
  await store.close();
});

test('samples users from the file without blocking the event loop', async () => {
  const store = await aStore('sampled.db');
  const { total, users } = await store.sampleUsers({ workspaceId: 'demo', size: 10, campaignIds: ['c'] });
  expect({ total, users }).toMatchObject({ total: 1, users: [{ externalId: 'u-1', profile: null }] });
  await store.close();
});
