import { describe, expect, test } from 'vitest';
import { completeProfile } from '../../../src/service/profiles/profile-text.ts';
import type { StoredEvent } from '../../../src/service/profiles/stored-event.ts';
import { packEvents, unpackEvents } from '../../../src/service/store/packed-events.ts';
import { packAttributes, unpackAttributes } from '../../../src/service/store/sqlite/packed-attributes.ts';

const RECEIVED = Date.UTC(2026, 2, 1, 10);

const event = (more: Partial<StoredEvent> = {}): StoredEvent => ({
  externalId: 'u-1',
  brazeId: '65e1b0c80000000000000001',
  kind: 'event',
  appId: null,
  name: 'quiz_done',
  time: '2026-03-01T09:15:00.000Z',
  timeMs: Date.UTC(2026, 2, 1, 9, 15),
  receivedAtMs: RECEIVED,
  details: { properties: { score: 3 } },
  ...more,
});

describe('events in a row', () => {
  test('come out as they went in, in their order, whoever did them', () => {
    const events = [
      event(),
      event({ externalId: null, brazeId: '65e1b0c80000000000000002', appId: 'app' }),
      event({ kind: 'purchase', name: 'sku-1', details: { currency: 'EUR', price: 1.5, quantity: 2 } }),
      event({ name: '__proto__', details: {} }),
    ];
    expect(unpackEvents(packEvents(events), RECEIVED)).toEqual(events);
  });

  test('name a user once', () => {
    const packed = packEvents([event(), event(), event()]);
    expect(packed.split('65e1b0c80000000000000001')).toHaveLength(2);
  });

  test('keep apart what a user did before and after getting an external ID', () => {
    const events = [event({ externalId: null }), event(), event({ externalId: null })];
    expect(unpackEvents(packEvents(events), RECEIVED)).toEqual(events);
  });

  test('are read from rows as they were written first', () => {
    const { externalId, brazeId, kind, appId, name, time, details } = event();
    const row = JSON.stringify([[externalId, brazeId, kind, appId, name, time, details]]);
    expect(unpackEvents(row, RECEIVED)).toEqual([event()]);
  });
});

describe('attributes in the journal', () => {
  const profile = completeProfile({
    brazeId: '65e1b0c80000000000000001',
    standard: { first_name: 'Kim' },
    custom: { tier: 'gold', visits: 3 },
    subscriptionGroups: { news: { state: 'subscribed' } },
    createdAtMs: 1,
    updatedAtMs: 2,
  });
  const attributes = {
    standard: profile.standard,
    custom: profile.custom,
    subscriptionGroups: profile.subscriptionGroups,
    updatedAtMs: 2,
  };

  test('come out as they went in', () => {
    const row = JSON.stringify([packAttributes(profile)]);
    expect(unpackAttributes(row)).toEqual([{ brazeId: profile.brazeId, attributes }]);
  });

  test('are read from rows as they were written first', () => {
    const row = JSON.stringify([[profile.brazeId, attributes]]);
    expect(unpackAttributes(row)).toEqual([{ brazeId: profile.brazeId, attributes }]);
  });
});
