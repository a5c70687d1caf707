// @vitest-environment node
import { expect, test } from 'vitest';
import type { BannerEvent } from '../../../src/client/banner.ts';
import { acceptInStore } from '../../../src/client/banners/accept-in-store.ts';
import { emptyRecord, recordKey, type UserRecord } from '../../../src/client/banners/user-record.ts';
import { createMemoryDisk } from '../../../src/testing/index.ts';

const getKey = (userId: string) => recordKey('http://placard.test', 'app-1', userId);
const dismissal = (bannerId: string, userId: string): BannerEvent => ({
  type: 'dismiss',
  bannerId,
  placementId: 'p1',
  userId,
  time: 1,
});

test('stores accepted dismissals only in the records of their users', async () => {
  const disk = createMemoryDisk();
  const store = disk.openStore('placard-banners');
  const dismissed = ['b1', 'b2'].map((bannerId) => ({ placementId: 'p1', bannerId, acceptedAtMs: null }));
  await store.setMany(['kim', 'lee'].map((user) => [getKey(user), { ...emptyRecord(), dismissed }]));
  await acceptInStore(store, getKey, [dismissal('b1', 'kim'), dismissal('b2', 'gone')], 5_000);
  const accepted = async (user: string) =>
    (await store.get<UserRecord>(getKey(user)))?.dismissed.map(({ acceptedAtMs }) => acceptedAtMs);
  expect(await accepted('kim')).toEqual([5_000, null]);
  expect(await accepted('lee')).toEqual([null, null]);
  // A user who signed out is not stored again.
  expect(disk.records('placard-banners')).toHaveLength(2);
});
