// @vitest-environment node
import { expect, test } from 'vitest';
import type { BannerEvent, EventType } from '../../../src/client/banner.ts';
import { acceptInStore } from '../../../src/client/banners/accept-in-store.ts';
import { emptyRecord, recordKey, type UserRecord } from '../../../src/client/banners/user-record.ts';
import { createMemoryDisk } from '../../../src/testing/index.ts';

const keyOf = (userId: string) => recordKey('http://placard.test', 'app-1', userId);
const event = (type: EventType, bannerId: string, userId: string): BannerEvent => ({
  type,
  bannerId,
  placementId: 'p1',
  userId,
  time: 1,
});

test('accepted dismissals are noted in the records of their users, and nothing else is', async () => {
  const disk = createMemoryDisk();
  const store = disk.openStore('placard-banners');
  const dismissed = ['b1', 'b2'].map((bannerId) => ({ placementId: 'p1', bannerId, acceptedAtMs: null }));
  await store.setMany(['kim', 'lee'].map((user) => [keyOf(user), { ...emptyRecord(), dismissed }]));
  const events = [event('dismiss', 'b1', 'kim'), event('click', 'b2', 'kim'), event('dismiss', 'b2', 'gone')];
  await acceptInStore(store, keyOf, events, 5_000);
  const accepted = async (user: string) =>
    (await store.get<UserRecord>(keyOf(user)))?.dismissed.map(({ acceptedAtMs }) => acceptedAtMs);
  expect(await accepted('kim')).toEqual([5_000, null]);
  expect(await accepted('lee')).toEqual([null, null]);
  // Who signed out is not remembered again.
  expect(disk.records('placard-banners')).toHaveLength(2);
});
