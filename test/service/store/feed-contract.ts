import { describe, expect, test } from 'vitest';
import type { FeedCursor } from '../../../src/service/sql/feed.ts';
import type { Store } from '../../../src/service/store/index.ts';
import type { FeedPage } from '../../../src/service/store/store.ts';
import { aBannerEvent, recordBannerEvents } from '../../helpers/banner-events.ts';
import { anEvent, aPurchase, byExternalId, NOW } from './examples.ts';

export const START: FeedCursor = { events: 0, bannerEvents: 0, userChanges: 0 };

/** All pages after a cursor. */
export const readAll = async (store: Store, after = START, limit = 2): Promise<FeedPage> => {
  const all: FeedPage = { events: [], bannerEvents: [], userChanges: [], next: after };
  for (;;) {
    const page = await store.readFeed(all.next, limit);
    all.events.push(...page.events);
    all.bannerEvents.push(...page.bannerEvents);
    all.userChanges.push(...page.userChanges);
    all.next = page.next;
    if (page.events.length + page.bannerEvents.length + page.userChanges.length === 0) return all;
  }
};

/** Contract of the feed for every store. */
export const feedContract = (getStore: () => Store) =>
  describe('the feed', () => {
    const act = (externalId: string, ...names: string[]) =>
      getStore().write({
        workspaceId: 'demo',
        lookups: [byExternalId(externalId)],
        nowMs: NOW,
        apply(users) {
          const profile = users.find(byExternalId(externalId))[0] ?? users.create({ externalId }, NOW);
          for (const name of names) users.record(profile, anEvent(profile, name));
        },
      });
    const forget = (externalId: string) =>
      getStore().write({
        workspaceId: 'demo',
        lookups: [byExternalId(externalId)],
        nowMs: NOW,
        apply: (users) => users.eraseByExternalId(externalId),
      });
    const getNames = ({ events }: FeedPage) =>
      events.map((event) => (event.kind === 'event' ? event.name : event.productId));
    const increases = (ids: number[]) => ids.every((id, at) => at === 0 || id > ids[at - 1]!);

    test('returns every row once in commit order over all pages', async () => {
      for (let round = 0; round < 3; round += 1) {
        await act('u-1', `a-${round}`, `b-${round}`);
        await recordBannerEvents(getStore(), `u-${round}`, [aBannerEvent({ language: 'pt-BR' })]);
      }
      await getStore().write({
        workspaceId: 'other',
        lookups: [],
        nowMs: NOW,
        apply(users) {
          const profile = users.create({ externalId: 'theirs' }, NOW);
          users.record(profile, aPurchase(profile, 'cup'));
        },
      });
      const all = await readAll(getStore());
      expect(getNames(all)).toEqual(['a-0', 'b-0', 'a-1', 'b-1', 'a-2', 'b-2', 'cup']);
      expect(all.events.at(-1)).toMatchObject({ workspaceId: 'other', externalId: 'theirs', price: 1.5 });
      expect(all.bannerEvents.map(({ externalId }) => externalId)).toEqual(['u-0', 'u-1', 'u-2']);
      expect(all.bannerEvents[0]).toMatchObject({
        workspaceId: 'demo',
        isFirstOfType: true,
        isControl: false,
        language: 'pt-BR',
      });
      expect(increases(all.events.map(({ eventId }) => eventId))).toBe(true);
      expect(await readAll(getStore(), all.next)).toMatchObject({
        events: [],
        bannerEvents: [],
        userChanges: [],
      });
      await act('u-1', 'later');
      expect(getNames(await readAll(getStore(), all.next))).toEqual(['later']);
    });

    test('does not reuse an ID after the newest row is deleted with its user', async () => {
      await act('u-1', 'first');
      await act('u-2', 'second');
      await recordBannerEvents(getStore(), 'u-2', [aBannerEvent()]);
      const read = await readAll(getStore());
      await forget('u-2');
      await act('u-1', 'third');
      await recordBannerEvents(getStore(), 'u-1', [aBannerEvent()]);
      const after = await readAll(getStore(), read.next);
      expect(getNames(after)).toEqual(['third']);
      expect(after.bannerEvents).toHaveLength(1);
      expect(after.userChanges).toMatchObject([{ kind: 'erased', userId: read.events.at(-1)!.userId }]);
    });

    test('includes both users of a merge, and their common banner events', async () => {
      for (const user of ['kept', 'gone']) {
        await act(user);
        await recordBannerEvents(getStore(), user, [aBannerEvent()]);
      }
      const [kept, gone] = (await readAll(getStore())).bannerEvents;
      await getStore().write({
        workspaceId: 'demo',
        lookups: [byExternalId('kept'), byExternalId('gone')],
        nowMs: NOW,
        apply: (users) =>
          users.merge(users.find(byExternalId('kept'))[0]!, users.find(byExternalId('gone'))[0]!, NOW),
      });
      const { userChanges } = await readAll(getStore());
      expect(userChanges).toMatchObject([
        { kind: 'merged', userId: gone!.userId, intoUserId: kept!.userId },
        { kind: 'duplicate', userId: kept!.userId, bannerEvent: { bannerEventId: gone!.bannerEventId } },
      ]);
    });

    test('marks a user’s first event of each type for a campaign', async () => {
      await recordBannerEvents(getStore(), 'u-1', [
        aBannerEvent(),
        aBannerEvent({ timeMs: NOW + 1 }),
        aBannerEvent({ eventType: 'click' }),
        aBannerEvent({ campaignId: 'other', bannerId: 'bnr_2' }),
      ]);
      await recordBannerEvents(getStore(), 'u-1', [aBannerEvent({ eventType: 'click', timeMs: NOW + 2 })]);
      const { bannerEvents } = await readAll(getStore());
      expect(bannerEvents.map(({ isFirstOfType }) => isFirstOfType)).toEqual([
        true,
        false,
        true,
        true,
        false,
      ]);
    });
  });
