import { describe, expect, test } from 'vitest';
import type { CustomEvent, Purchase } from '../../../src/service/profiles/events.ts';
import type { Profile } from '../../../src/service/profiles/profile.ts';
import type { EventCountsQuery } from '../../../src/service/results/event-counts.ts';
import type { Store } from '../../../src/service/store/index.ts';
import { anEvent, aPurchase, byExternalId, NOW } from './examples.ts';

const QUARTER = 15 * 60_000;

/** Contract of the counts of events and purchases for every store. */
export const eventCountsContract = (getStore: () => Store) =>
  describe('counts of events', () => {
    const record = (externalId: string, getEvents: (profile: Profile) => (CustomEvent | Purchase)[]) =>
      getStore().write({
        workspaceId: 'demo',
        lookups: [byExternalId(externalId)],
        nowMs: NOW,
        apply(users) {
          const profile = users.find(byExternalId(externalId))[0] ?? users.create({ externalId }, NOW);
          for (const event of getEvents(profile)) users.record(profile, event);
        },
      });
    const counts = (query: Partial<EventCountsQuery> = {}, workspaceId = 'demo') =>
      getStore().eventCounts(workspaceId, {
        kind: 'event',
        name: 'signed_up',
        appId: null,
        fromMs: NOW - 24 * 4 * QUARTER,
        toMs: NOW + QUARTER,
        ...query,
      });
    const events = (startsAtMs: number, quantity: number) => ({
      startsAtMs,
      currency: '',
      quantity,
      revenue: 0,
    });

    test('add up events of all users by quarter hour', async () => {
      await record('u-1', (user) => [
        anEvent(user, 'signed_up', NOW),
        anEvent(user, 'signed_up', NOW - 1),
        anEvent(user, 'left', NOW),
        aPurchase(user, 'signed_up', NOW),
      ]);
      await record('u-2', (user) => [
        anEvent(user, 'signed_up', NOW),
        { ...anEvent(user, 'signed_up', NOW), appId: 'app' },
      ]);
      expect(await counts()).toEqual([events(NOW - QUARTER, 1), events(NOW, 3)]);
      await record('u-2', (user) => [anEvent(user, 'signed_up', NOW - 1)]);
      expect(await counts()).toEqual([events(NOW - QUARTER, 2), events(NOW, 3)]);
      expect(await counts({ appId: 'app' })).toEqual([events(NOW, 1)]);
      expect(await counts({ toMs: NOW })).toEqual([events(NOW - QUARTER, 2)]);
      expect(await counts({ name: 'never' })).toEqual([]);
      expect(await counts({}, 'other')).toEqual([]);
    });

    test('round down times before 1970', async () => {
      await record('u-1', (user) => [anEvent(user, 'signed_up', -1)]);
      expect(await counts({ fromMs: -QUARTER, toMs: 0 })).toEqual([events(-QUARTER, 1)]);
    });

    test('add up units and revenue of purchases by product, and of all', async () => {
      await record('u-1', (user) => [
        aPurchase(user, 'cup'),
        { ...aPurchase(user, 'cup'), price: -0.5, quantity: 1 },
        aPurchase(user, 'pot'),
        { ...aPurchase(user, 'pot'), currency: 'PLN' },
      ]);
      const row = { startsAtMs: NOW, currency: 'EUR' };
      expect(await counts({ kind: 'purchase', name: 'cup' })).toEqual([
        { ...row, quantity: 3, revenue: 2.5 },
      ]);
      const all = [
        { ...row, quantity: 5, revenue: 5.5 },
        { ...row, currency: 'PLN', quantity: 2, revenue: 3 },
      ];
      expect(await counts({ kind: 'purchase', name: null })).toEqual(all);
      expect(await counts({ kind: 'purchase', name: null, appId: 'other' })).toEqual([]);
    });

    test('are unchanged when users are merged or erased', async () => {
      await record('u-1', (user) => [anEvent(user, 'signed_up')]);
      await record('u-2', (user) => [anEvent(user, 'signed_up')]);
      expect(await counts()).toEqual([events(NOW, 2)]);
      const [one, other] = [byExternalId('u-1'), byExternalId('u-2')];
      await getStore().write({
        workspaceId: 'demo',
        lookups: [one, other],
        nowMs: NOW,
        apply: (users) => users.merge(users.find(one)[0]!, users.find(other)[0]!, NOW),
      });
      expect(await counts()).toEqual([events(NOW, 2)]);
      await getStore().write({
        workspaceId: 'demo',
        lookups: [one],
        nowMs: NOW,
        apply: (users) => users.eraseByExternalId('u-1'),
      });
      expect(await counts()).toEqual([events(NOW, 2)]);
    });

    test('list names in order, by page', async () => {
      const names = ['b', 'a', 'é', 'Z', '0'];
      await record('u-1', (user) => [
        ...names.flatMap((name) => [anEvent(user, name, NOW - QUARTER), anEvent(user, name)]),
        aPurchase(user, 'cup'),
      ]);
      const list = (offset: number, kind: EventCountsQuery['kind'] = 'event') =>
        getStore().eventNames('demo', { kind, limit: 3, offset });
      expect(await list(0)).toEqual(['0', 'Z', 'a']);
      expect(await list(3)).toEqual(['b', 'é']);
      expect(await list(6)).toEqual([]);
      expect(await list(0, 'purchase')).toEqual(['cup']);
      expect(await getStore().eventNames('other', { kind: 'event', limit: 3, offset: 0 })).toEqual([]);
    });
  });
