// Sample data for the tests of both stores.

import type { CustomEvent, Purchase } from '../../../src/service/profiles/events.ts';
import type { Lookup } from '../../../src/service/profiles/lookup.ts';
import type { Profile } from '../../../src/service/profiles/profile.ts';

export const NOW = Date.UTC(2026, 2, 1, 9, 0, 0);

export const collect = async <T>(rows: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const row of rows) all.push(row);
  return all;
};

export const byExternalId = (value: string): Lookup => ({ by: 'external_id', value });

export const anEvent = (profile: Profile, name: string, timeMs = NOW): CustomEvent => ({
  externalId: profile.externalId,
  userId: profile.userId,
  kind: 'event',
  appId: null,
  name,
  timeMs,
  // No event is received before it happens: a time in the future is replaced.
  receivedAtMs: Math.max(timeMs, NOW),
  properties: null,
});

export const aPurchase = (profile: Profile, productId = 'sku', timeMs = NOW): Purchase => {
  const { name: _, ...ofUser } = anEvent(profile, '', timeMs);
  return { ...ofUser, kind: 'purchase', productId, appId: 'app', price: 1.5, quantity: 2, currency: 'EUR' };
};
