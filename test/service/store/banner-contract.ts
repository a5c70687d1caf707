import { describe, expect, test } from 'vitest';
import type { NewBannerEvent } from '../../../src/service/profiles/events.ts';
import type { Store } from '../../../src/service/store/index.ts';
import { aBannerEvent, recordBannerEvents } from '../../helpers/banner-events.ts';
import { collect, NOW } from './examples.ts';

const asStored = (externalId: string, { round: _, ...event }: NewBannerEvent, isFirstOfType = true) => ({
  externalId,
  workspaceId: 'demo',
  ...event,
  isFirstOfType,
});

/** Contract of banner events for every store. */
export const bannerEventsContract = (getStore: () => Store) => {
  const record = (externalId: string, ...events: NewBannerEvent[]) =>
    recordBannerEvents(getStore(), externalId, events);
  const stored = async () =>
    (await collect(getStore().exportBannerEvents('demo'))).map(
      ({ userId: _, bannerEventId: __, ...row }) => row,
    );
  const campaigns = async (externalId = 'u-1', workspaceId = 'demo') =>
    (await getStore().loadTargetingData(workspaceId, externalId)).campaigns;

  describe('banner events', () => {
    test('are stored once if repeated', async () => {
      await record('u-1', aBannerEvent(), aBannerEvent());
      await record('u-1', aBannerEvent());
      await recordBannerEvents(getStore(), 'u-1', [aBannerEvent()], 'other');
      expect(await stored()).toEqual([asStored('u-1', aBannerEvent())]);
      expect(await campaigns()).toMatchObject([{ impressions: 1 }]);
    });

    test('are read per user for many users at once', async () => {
      const users = Array.from({ length: 80 }, (_, at) => `u-${at}`);
      // Every second user has impressions, the first in two workspaces, twice in one of them.
      const seen = users.filter((_, at) => at % 2 === 0);
      for (const user of seen) await record(user, aBannerEvent({ bannerId: `bnr_${user}` }));
      await record('u-0', aBannerEvent({ timeMs: NOW + 1 }));
      await recordBannerEvents(getStore(), 'u-0', [aBannerEvent()], 'other');
      const asked = [...users.map((user) => ['demo', user] as const), ['other', 'u-0'] as const];
      const answers = await Promise.all(
        asked.map(([of, user]) => getStore().loadTargetingData(of, user, NOW)),
      );
      const expected = [...users.map((_, at) => (at === 0 ? 2 : (at + 1) % 2)), 1];
      expect(answers.map(({ impressions }) => impressions.length)).toEqual(expected);
      expect(answers.map(({ campaigns }) => campaigns[0]?.impressions ?? 0)).toEqual(expected);
    });

    test('are read up to a limit per user', async () => {
      for (let from = 0; from < 11_000; from += 1_000) {
        const events = Array.from({ length: 1_000 }, (_, at) => aBannerEvent({ timeMs: NOW + from + at }));
        await record('u-1', ...events.map((event) => ({ ...event, receivedAtMs: NOW + 30_000 })));
      }
      expect((await campaigns())[0]!.impressions).toBe(11_000);
      const { impressions } = await getStore().loadTargetingData('demo', 'u-1', NOW);
      expect(impressions).toHaveLength(10_000);
    });

    test('differ by user, banner, type and instant', async () => {
      const events = [
        aBannerEvent(),
        aBannerEvent({ bannerId: 'bnr_2' }),
        aBannerEvent({ eventType: 'click' }),
        aBannerEvent({ timeMs: NOW + 1 }),
        aBannerEvent({ timeMs: Date.UTC(1961, 0, 1) }),
        aBannerEvent({ variantId: null, isControl: true, timeMs: Date.UTC(2400, 0, 1) }),
      ];
      await record('u-1', ...events);
      await record('u-1', ...events.toReversed());
      await record('u-2', aBannerEvent());
      // First impression, first click.
      const unique = [true, false, true, false, false, false];
      const expected = [
        ...events.map((event, at) => asStored('u-1', event, unique[at])),
        asStored('u-2', aBannerEvent()),
      ];
      expect(await stored()).toHaveLength(expected.length);
      expect(await stored()).toEqual(expect.arrayContaining(expected));
    });

    test('of test sends are excluded from exports and decisions', async () => {
      await record('u-1', aBannerEvent({ isTestSend: true }));
      await record('u-1', aBannerEvent({ eventType: 'dismiss', isTestSend: true }));
      expect(await stored()).toEqual([]);
      expect(await campaigns()).toEqual([]);
    });

    test('are counted by user and campaign, with the first and last impression and the first variant', async () => {
      const DAY = 24 * 60 * 60 * 1000;
      const at = (days: number, change: Partial<NewBannerEvent> = {}) => {
        const timeMs = NOW + days * DAY;
        return aBannerEvent({ timeMs, receivedAtMs: timeMs + 5, ...change });
      };
      await record('u-1', at(1, { eventType: 'click', variantId: 'b' }));
      await record(
        'u-1',
        at(2),
        at(3, { variantId: 'b' }),
        at(2, { campaignId: 'other', bannerId: 'bnr_o' }),
      );
      await record('u-1', at(0, { variantId: 'b', isControl: true }));
      await record('u-1', at(4, { eventType: 'click' }));
      expect((await campaigns()).toSorted((a, b) => (a.campaignId < b.campaignId ? -1 : 1))).toMatchObject([
        {
          workspaceId: 'demo',
          campaignId: 'campaign',
          variantId: 'b',
          isControl: true,
          impressions: 3,
          firstImpressionMs: NOW,
          lastImpressionMs: NOW + 3 * DAY,
          clicks: 2,
          lastClickMs: NOW + 4 * DAY,
          dismissals: 0,
          lastDismissalMs: null,
          round: 0,
        },
        {
          workspaceId: 'demo',
          campaignId: 'other',
          variantId: 'a',
          isControl: false,
          impressions: 1,
          firstImpressionMs: NOW + 2 * DAY,
          lastImpressionMs: NOW + 2 * DAY,
          clicks: 0,
          lastClickMs: null,
          dismissals: 0,
          lastDismissalMs: null,
          round: 0,
        },
      ]);
    });

    test('start one round per dismissed campaign and keep the latest time that is not in the future', async () => {
      const dismissed = (round: number, timeMs: number, change: Partial<NewBannerEvent> = {}) =>
        aBannerEvent({
          eventType: 'dismiss',
          bannerId: `bnr_${round}`,
          round,
          timeMs,
          receivedAtMs: NOW + 20,
          ...change,
        });
      const dismissals = async (externalId = 'u-1', workspaceId = 'demo') =>
        (await campaigns(externalId, workspaceId)).map(({ lastDismissalMs, round }) => [
          lastDismissalMs! - NOW,
          round,
        ]);
      expect(await dismissals()).toEqual([]);
      await record('u-1', dismissed(0, NOW));
      await record('u-1', dismissed(0, NOW));
      await record('u-1', dismissed(0, NOW + 9));
      expect(await dismissals()).toEqual([[9, 1]]);
      await record('u-1', dismissed(1, NOW + 3));
      expect(await dismissals()).toEqual([[9, 2]]);
      await record(
        'u-1',
        dismissed(1, NOW + 8, { bannerId: 'bnr_1_side', placementId: 'side' }),
        dismissed(0, NOW + 7),
      );
      expect(await dismissals()).toEqual([[9, 2]]);
      await record('u-1', dismissed(2, NOW + 5_000), dismissed(1, NOW + 6));
      expect(await dismissals()).toEqual([[20, 3]]);
      expect(await campaigns()).toMatchObject([{ impressions: 0, firstImpressionMs: null, dismissals: 7 }]);
      expect(await dismissals('u-2')).toEqual([]);
      expect(await dismissals('u-1', 'other')).toEqual([]);
    });

    test('are visible to syncs as soon as they are stored', async () => {
      const ask = async () => (await campaigns()).length;
      expect(await ask()).toBe(0);
      const recorded = record('u-1', aBannerEvent({ eventType: 'dismiss' }));
      const meanwhile = Array.from({ length: 3 }, ask);
      await recorded;
      expect(await ask()).toBe(1);
      await Promise.all(meanwhile);
      expect(await ask()).toBe(1);
    });

    test('belong to one user if they arrive concurrently', async () => {
      const times = Array.from({ length: 30 }, (_, n) => NOW + n);
      await Promise.all(times.map((timeMs) => record('u-1', aBannerEvent({ timeMs }))));
      const rows = await collect(getStore().exportBannerEvents('demo'));
      expect(rows).toHaveLength(30);
      expect(new Set(rows.map(({ userId }) => userId)).size).toBe(1);
      expect(await campaigns()).toMatchObject([{ impressions: 30 }]);
    });
  });
};
