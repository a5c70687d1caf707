import { describe, expect, test } from 'vitest';
import type { Lookup } from '../../../src/service/profiles/lookup.ts';
import type { Profile } from '../../../src/service/profiles/profile.ts';
import type { UserRepository } from '../../../src/service/profiles/user-repository.ts';
import type { Store } from '../../../src/service/store/index.ts';
import { aBannerEvent, recordBannerEvents } from '../../helpers/banner-events.ts';
import { anEvent, byExternalId, collect, NOW } from './examples.ts';

const ALIAS = { alias_name: 'anon-1', alias_label: 'web' };
const byAlias: Lookup = { by: 'user_alias', value: ALIAS };

/** Contract for moving the rows of a merged or deleted user. */
export const movingRowsContract = (getStore: () => Store) => {
  const write = <T>(lookups: Lookup[], apply: (users: UserRepository) => T) =>
    getStore().write({ workspaceId: 'demo', lookups, nowMs: NOW, apply });
  const create = (fields: Partial<Profile>, event?: string) =>
    write([], (users) => {
      const profile = users.create(fields, NOW);
      if (event !== undefined) users.record(profile, anEvent(profile, event));
      return profile.userId;
    });
  const merge = (kept: Lookup, merged: Lookup) =>
    write([kept, merged], (users) => users.merge(users.find(kept)[0]!, users.find(merged)[0]!, NOW));
  const events = async () =>
    (await collect(getStore().exportEvents('demo'))).map((event) => [
      event.kind === 'event' ? event.name : event.productId,
      event.externalId,
      event.userId,
    ]);
  const bannerEvents = async () =>
    (await collect(getStore().exportBannerEvents('demo'))).map(({ externalId, userId, timeMs }) => [
      timeMs - NOW,
      externalId,
      userId,
    ]);

  describe('a user who has banner events and no profile', () => {
    test('is not found or exported', async () => {
      await recordBannerEvents(getStore(), 'u-1', [aBannerEvent()]);
      const found = await write([byExternalId('u-1')], (users) => users.find(byExternalId('u-1')).length);
      expect(found).toBe(0);
      expect(await getStore().readUsers('demo', [byExternalId('u-1')])).toEqual([]);
      expect(await collect(getStore().exportUsers('demo'))).toEqual([]);
      expect(await getStore().loadTargetingData('demo', 'u-1')).toMatchObject({
        profile: null,
        campaigns: [{ impressions: 1 }],
      });
    });

    test('keeps its banner events when it gets a profile', async () => {
      await recordBannerEvents(getStore(), 'u-1', [aBannerEvent()]);
      const userId = await write([byExternalId('u-1')], (users) => {
        const profile = users.create({ externalId: 'u-1', custom: { tier: 'gold' } }, NOW + 1);
        users.record(profile, anEvent(profile, 'bought'));
        return profile.userId;
      });
      expect(await bannerEvents()).toEqual([[0, 'u-1', userId]]);
      expect(await events()).toEqual([['bought', 'u-1', userId]]);
      const { profile, campaigns } = await getStore().loadTargetingData('demo', 'u-1');
      expect(profile).toMatchObject({ userId, custom: { tier: 'gold' }, createdAtMs: NOW + 1 });
      expect(campaigns).toHaveLength(1);
      await recordBannerEvents(getStore(), 'u-1', [aBannerEvent({ timeMs: NOW + 1 })]);
      expect((await getStore().loadTargetingData('demo', 'u-1')).campaigns).toMatchObject([
        { impressions: 2 },
      ]);
    });

    test('becomes the user who receives the external ID, with all banner events', async () => {
      const userId = await create({ aliases: [ALIAS] }, 'seen');
      await recordBannerEvents(getStore(), 'u-1', [aBannerEvent(), aBannerEvent({ timeMs: NOW + 1 })]);
      await write([byAlias, byExternalId('u-1')], (users) => {
        const [profile] = users.find(byAlias);
        profile!.externalId = 'u-1';
        users.changed(profile!, NOW);
      });
      expect(await events()).toEqual([['seen', 'u-1', userId]]);
      expect((await bannerEvents()).toSorted()).toEqual([
        [0, 'u-1', userId],
        [1, 'u-1', userId],
      ]);
      expect(await getStore().loadTargetingData('demo', 'u-1')).toMatchObject({
        profile: { userId },
        campaigns: [{ impressions: 2 }],
      });
      expect(await collect(getStore().exportUsers('demo'))).toHaveLength(1);
    });
  });

  describe('a user who is merged into another', () => {
    test('passes every row to the merge target and is deleted', async () => {
      const kept = await create({ externalId: 'kept' }, 'one');
      await create({ externalId: 'gone', aliases: [ALIAS] }, 'two');
      const DAY = 86_400_000;
      const late = { timeMs: NOW + DAY, receivedAtMs: NOW + DAY };
      await recordBannerEvents(getStore(), 'kept', [
        aBannerEvent(late),
        aBannerEvent({ ...late, eventType: 'dismiss' }),
      ]);
      await recordBannerEvents(getStore(), 'gone', [
        aBannerEvent({ variantId: 'b' }),
        aBannerEvent(late),
        aBannerEvent({ eventType: 'click', campaignId: 'other', bannerId: 'bnr_o' }),
      ]);
      await write([byExternalId('kept'), byExternalId('gone')], (users) => {
        const [to] = users.find(byExternalId('kept'));
        const [from] = users.find(byExternalId('gone'));
        users.record(from!, anEvent(from!, 'three'));
        to!.aliases = from!.aliases;
        users.merge(to!, from!, NOW);
      });
      expect((await events()).toSorted()).toEqual([
        ['one', 'kept', kept],
        ['three', 'kept', kept],
        ['two', 'kept', kept],
      ]);
      // A banner event that both users had is stored once.
      const rows = await bannerEvents();
      expect(rows.toSorted()).toEqual([
        [0, 'kept', kept],
        [0, 'kept', kept],
        [DAY, 'kept', kept],
        [DAY, 'kept', kept],
      ]);
      const { campaigns } = await getStore().loadTargetingData('demo', 'kept');
      expect(campaigns.toSorted((a, b) => (a.campaignId < b.campaignId ? -1 : 1))).toMatchObject([
        {
          campaignId: 'campaign',
          variantId: 'b',
          firstImpressionMs: NOW,
          lastImpressionMs: NOW + DAY,
          dismissals: 1,
          lastDismissalMs: NOW + DAY,
          round: 1,
        },
        { campaignId: 'other', clicks: 1 },
      ]);
      expect(await getStore().readUsers('demo', [byExternalId('gone')])).toEqual([]);
      expect(await getStore().readUsers('demo', [byAlias])).toMatchObject([{ userId: kept }]);
    });

    test('may merge into a user who merges into a third one, even in the same group', async () => {
      const ids = ['a', 'b', 'c'];
      for (const id of ids) await create({ externalId: id }, `of ${id}`);
      await Promise.all([
        merge(byExternalId('b'), byExternalId('a')),
        merge(byExternalId('c'), byExternalId('b')),
      ]);
      expect((await events()).map(([name, externalId]) => [name, externalId]).toSorted()).toEqual([
        ['of a', 'c'],
        ['of b', 'c'],
        ['of c', 'c'],
      ]);
    });

    test('counts a banner event once if the group of the merge repeats it', async () => {
      await create({ externalId: 'kept' });
      await create({ externalId: 'gone' });
      await recordBannerEvents(getStore(), 'gone', [aBannerEvent()]);
      await Promise.all([
        recordBannerEvents(getStore(), 'gone', [aBannerEvent()]),
        merge(byExternalId('kept'), byExternalId('gone')),
      ]);
      expect(await bannerEvents()).toHaveLength(1);
      expect((await getStore().loadTargetingData('demo', 'kept')).campaigns).toMatchObject([
        { impressions: 1 },
      ]);
    });

    test('is not stored if the same group created it', async () => {
      const kept = await create({ externalId: 'kept' });
      await write([byExternalId('kept')], (users) => {
        const [to] = users.find(byExternalId('kept'));
        const from = users.create({ email: 'kim@example.org' }, NOW);
        users.record(from, anEvent(from, 'e'));
        users.merge(to!, from, NOW);
      });
      expect(await events()).toEqual([['e', 'kept', kept]]);
      expect(await collect(getStore().exportUsers('demo'))).toHaveLength(1);
    });
  });

  test('deletes every row of a removed user', async () => {
    await create({ externalId: 'u-1', email: 'kim@example.org' }, 'e');
    await create({ externalId: 'u-2' }, 'stays');
    await recordBannerEvents(getStore(), 'u-1', [aBannerEvent()]);
    await write([byExternalId('u-1')], (users) => {
      const [profile] = users.find(byExternalId('u-1'));
      users.record(profile!, anEvent(profile!, 'last'));
      users.erase(profile!);
    });
    expect((await events()).map(([name]) => name)).toEqual(['stays']);
    expect(await bannerEvents()).toEqual([]);
    expect(await getStore().loadTargetingData('demo', 'u-1')).toEqual({
      exists: false,
      profile: null,
      campaigns: [],
      impressions: [],
    });
  });
};
