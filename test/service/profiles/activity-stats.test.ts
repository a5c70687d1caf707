import { expect, test } from 'vitest';
import type { StoredEvent } from '../../../src/service/profiles/events.ts';
import { createProfile, recordActivity } from '../../../src/service/profiles/profile.ts';
import { mergeProfile } from '../../../src/service/users/merge.ts';

const aProfile = () => createProfile({ userId: 1, createdAtMs: 1, updatedAtMs: 1 });
const purchase = (price: number): StoredEvent => ({
  externalId: null,
  userId: 1,
  kind: 'purchase',
  appId: null,
  productId: 'p',
  timeMs: 1,
  receivedAtMs: 1,
  currency: 'EUR',
  price,
  quantity: 100,
  properties: null,
});

test('limits revenue to the largest number, which stays valid when stored', () => {
  const [profile, other] = [aProfile(), aProfile()];
  for (const each of [profile, profile, other]) recordActivity(each, purchase(1e308));
  mergeProfile(profile, other);
  const { revenue, count } = JSON.parse(JSON.stringify(profile.purchases)).p;
  expect({ revenue, count }).toEqual({ revenue: Number.MAX_VALUE, count: 300 });
});

test('adds up revenue and purchase counts of merged users', () => {
  const [kept, merged] = [aProfile(), aProfile()];
  recordActivity(kept, purchase(2));
  recordActivity(merged, purchase(3));
  mergeProfile(kept, merged);
  expect(kept.purchases['p']).toMatchObject({ revenue: 500, count: 200 });
});
