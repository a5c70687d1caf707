import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openStore, openStoreReader } from '../../../src/service/store/index.ts';
import { aBannerEvent, recordBannerEvents } from '../../helpers/banner-events.ts';

const folder = mkdtempSync(join(tmpdir(), 'placard-jobs-'));
afterAll(() => rmSync(folder, { recursive: true }));

const QUESTION = { campaignId: 'campaign', conversions: [{ event: 'bought', withinMs: 1_000 }] };

const aStore = async (name: string) => {
  const store = await openStore(join(folder, name));
  await recordBannerEvents(store, 'u-1', [aBannerEvent()]);
  return store;
};

test('the goals of a campaign are counted beside the event loop', async () => {
  const store = await aStore('beside.db');
  const order: string[] = [];
  const counting = store.campaignResults('demo', QUESTION).then(() => order.push('results'));
  setImmediate(() => order.push('a turn of the event loop'));
  await counting;
  expect(order).toEqual(['a turn of the event loop', 'results']);
  await store.close();
});

test('one question after the other is counted, and one that fails is not in the way of the next', async () => {
  const store = await aStore('queue.db');
  const fates = await Promise.allSettled([
    store.campaignResults('demo', QUESTION),
    store.campaignResults('demo', { ...QUESTION, conversions: [{ event: [] as never, withinMs: 1 }] }),
    store.campaignResults('demo', QUESTION),
  ]);
  expect(fates).toMatchObject([
    { status: 'fulfilled', value: { arms: [{ exposed: 1 }] } },
    { status: 'rejected', reason: { message: expect.stringContaining('cannot be bound') } },
    { status: 'fulfilled', value: { arms: [{ exposed: 1 }] } },
  ]);
  await store.close();
});

test('a store that closes ends what is being counted, and counts no more', async () => {
  const store = await aStore('closed.db');
  const counting = store.campaignResults('demo', QUESTION);
  const ended = expect(counting).rejects.toThrow('The store is closed');
  await store.close();
  await ended;
  await expect(store.sampleUsers('demo', 10)).rejects.toThrow('The store is closed');
});

test('a campaign can be counted beside the service that writes the file', async () => {
  const store = await aStore('live.db');
  const reader = await openStoreReader(join(folder, 'live.db'));
  expect(await reader.campaignResults('demo', QUESTION)).toMatchObject({ arms: [{ exposed: 1 }] });
  await reader.close();
  await store.close();
});

test('users are sampled from the file, beside the event loop', async () => {
  const store = await aStore('sampled.db');
  const { total, users } = await store.sampleUsers('demo', 10);
  expect({ total, users }).toMatchObject({ total: 1, users: [{ externalId: 'u-1', profile: null }] });
  await store.close();
});
