import { expect, test } from 'vitest';
import { EVENT_TYPES } from '../../../src/protocol/index.ts';
import { fileRow } from '../../../src/service/index.ts';
import { MEASURES } from '../../../src/service/measures.ts';
import { parseWorkspace } from '../../../src/service/workspace/parse-workspace.ts';
import { APP_ID, aCampaign, aVariant, aWorkspace } from '../../helpers/a-workspace.ts';
import { aBannerEvent, recordBannerEvents } from '../../helpers/banner-events.ts';
import { NOW, onBothStores } from '../users/on-both-stores.ts';
import { streamAll } from './streaming.ts';

const SIGN_UP = { event: 'signed_up', withinMs: 3_600_000 };
const CUP = { product: 'cup', withinMs: 3_600_000 };
const campaign = aCampaign({
  campaign_id: 'campaign',
  name: 'Spring sale',
  variants: [aVariant({ variant_id: 'a', name: 'Red' }), aVariant({ variant_id: 'b' })],
  conversions: [
    { event: 'signed_up', within_hours: 1 },
    { product: 'cup', within_hours: 1 },
  ],
});
const named = parseWorkspace(aWorkspace({ campaigns: [campaign] }));
const iso = (ms: number) => new Date(ms).toISOString();

/** Deterministic numbers from 0 to 1 (Lehmer). */
const createRandom = (seed: number) => () => {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed / 2_147_483_647;
};

onBothStores('events of the feed', (api, store) => {
  const addGoals = () =>
    store().addGoals(api().workspaceId, {
      campaignId: 'campaign',
      goals: [SIGN_UP, CUP],
      timeZone: 'UTC',
    });
  const record = (user: string, ...changes: Parameters<typeof aBannerEvent>[0][]) =>
    recordBannerEvents(
      store(),
      user,
      changes.map((change) => aBannerEvent({ appId: APP_ID, ...change })),
      api().workspaceId,
    );
  const stream = (limit?: number) =>
    streamAll(store(), {
      workspaceId: api().workspaceId,
      findWorkspace: () => named,
      ...(limit !== undefined && { limit }),
    });

  test('have the names and shapes of Currents, in commit order', async () => {
    await addGoals();
    const events = [{ external_id: 'kim', name: 'opened', time: iso(NOW - 5), properties: { page: 'home' } }];
    const purchase = { product_id: 'cup', currency: 'EUR', price: 2.5, quantity: 2 };
    await api().track({ events });
    await record(
      'kim',
      {},
      { timeMs: NOW + 1 },
      { eventType: 'click', buttonId: 'details' },
      { eventType: 'dismiss' },
    );
    await api().track({ purchases: [{ external_id: 'kim', ...purchase, time: iso(NOW) }] });
    const all = await stream(100);
    expect(all.map(({ type, properties }) => [type, properties['is_unique'] ?? null])).toEqual([
      ['users.behaviors.CustomEvent', null],
      ['users.behaviors.Purchase', null],
      ['users.messages.banner.Impression', true],
      ['users.messages.banner.Impression', false],
      ['users.messages.banner.Click', true],
      ['users.messages.banner.Dismiss', true],
      ['users.campaigns.Conversion', null],
    ]);
    const [opened] = all;
    expect(opened).toMatchObject({
      externalId: 'kim',
      timeMs: NOW - 5,
      properties: { name: 'opened', custom_properties: { page: 'home' } },
    });
    expect(fileRow(opened!)).toMatchObject({
      user_id: opened!.userId,
      external_user_id: 'kim',
      app_group_id: api().workspaceId,
      time: Math.floor((NOW - 5) / 1_000),
      properties: '{"page":"home"}',
    });
    const of = (type: string) => all.find((event) => event.type === type)!.properties;
    expect(of('users.messages.banner.Click')).toMatchObject({ button_id: 'details' });
    expect(of('users.messages.banner.Dismiss')).toMatchObject({ button_id: null });
    expect(of('users.messages.banner.Impression')).toEqual({
      app_id: APP_ID,
      campaign_id: 'campaign',
      campaign_name: 'Spring sale',
      message_variation_id: 'a',
      message_variation_name: 'Red',
      banner_placement_id: 'home_hero',
      platform: 'web',
      language: null,
      is_unique: true,
    });
    expect(of('users.behaviors.Purchase')).toMatchObject({ ...purchase, purchase_properties: {} });
    expect(of('users.campaigns.Conversion')).toEqual({
      campaign_id: 'campaign',
      campaign_name: 'Spring sale',
      message_variation_id: 'a',
      message_variation_name: 'Red',
      conversion_behavior_index: 1,
      conversion_behavior: '{"type":"Makes Specific Purchase","window":3600,"product":"cup"}',
      revenue: 5,
      currency: 'EUR',
    });
  });

  test('exclude test sends, and include the enrollment of a control group user once', async () => {
    await record('tester', { isTestSend: true });
    const control = { isControl: true, variantId: null };
    await record('held', control, { ...control, timeMs: NOW + 1 }, { ...control, eventType: 'click' });
    await record('held', { ...control, timeMs: NOW + 2 });
    expect((await stream()).map(({ type, externalId }) => [type, externalId])).toEqual([
      ['users.campaigns.EnrollInControl', 'held'],
    ]);
  });

  test('keep their IDs in later reads, with other page sizes, and after a merge', async () => {
    const same = { external_id: 'one', name: 'same', time: iso(NOW) };
    await api().track({ events: [same, same] });
    await api().track({ events: [{ ...same, external_id: 'two' }] });
    await record('one', {});
    await record('two', { timeMs: NOW + 7 });
    const before = await stream(1);
    const ids = before.map(({ id }) => id);
    expect(new Set(ids).size).toBe(5);
    expect((await stream(100)).map(({ id }) => id).sort()).toEqual(ids.toSorted());
    await api().post('/users/merge', {
      merge_updates: [
        { identifier_to_merge: { external_id: 'two' }, identifier_to_keep: { external_id: 'one' } },
      ],
    });
    const after = await stream();
    const orphan = after.find(({ type }) => type === 'users.UserOrphan')!;
    expect(
      after
        .map(({ id }) => id)
        .filter((id) => id !== orphan.id)
        .sort(),
    ).toEqual(ids.toSorted());
    const [one, two] = ['one', 'two'].map(
      (name) => before.find(({ externalId }) => externalId === name)!.userId,
    );
    expect(orphan).toMatchObject({ userId: two, properties: { orphaned_by_id: one } });
    expect(after.filter(({ userId }) => userId === two)).toEqual([orphan]);
  });

  test('request the erasure of a user, whose other events are deleted', async () => {
    await api().track({ events: [{ external_id: 'gone', name: 'opened', time: iso(NOW) }] });
    await record('gone', {});
    const [{ userId } = { userId: '' }] = await stream();
    await api().post('/users/delete', { external_ids: ['gone'] });
    expect(await stream()).toMatchObject([{ type: 'users.UserDeleteRequest', userId, externalId: null }]);
  });

  test('include a conversion whose impression arrived later', async () => {
    await addGoals();
    await api().track({ events: [{ external_id: 'late', name: 'signed_up', time: iso(NOW) }] });
    expect((await stream()).map(({ type }) => type)).toEqual(['users.behaviors.CustomEvent']);
    await record('late', { timeMs: NOW - 60_000 });
    const conversions = (await stream()).filter(({ type }) => type === 'users.campaigns.Conversion');
    expect(new Set(conversions.map(({ id }) => id)).size).toBe(1);
    await record('never', { timeMs: NOW + 1 });
    await api().track({ events: [{ external_id: 'never', name: 'signed_up', time: iso(NOW) }] });
    const ofNever = (await stream()).filter(({ externalId }) => externalId === 'never');
    expect(ofNever.map(({ type }) => type).toSorted()).toEqual([
      'users.behaviors.CustomEvent',
      'users.messages.banner.Impression',
    ]);
  });

  test('equal the results of a campaign when recounted', async () => {
    await addGoals();
    const random = createRandom(7);
    const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
    for (let step = 0; step < 60; step += 1) {
      const user = `u-${Math.floor(random() * 12)}`;
      const isControl = Number(user.slice(2)) % 4 === 0;
      const timeMs = NOW - 3_000_000 + step * 1_000;
      if (random() < 0.5)
        await record(user, {
          timeMs,
          receivedAtMs: timeMs,
          isControl,
          variantId: isControl ? null : pick(['a', 'a', 'b']),
          eventType: pick(['impression', ...EVENT_TYPES] as const),
        });
      else
        await api().track({
          events: [{ external_id: user, name: 'signed_up', time: iso(timeMs) }],
          purchases: [
            { external_id: user, product_id: 'cup', price: 1.5, currency: 'EUR', time: iso(timeMs) },
          ],
        });
      if (step === 50)
        await api().post('/users/merge', {
          merge_updates: [
            { identifier_to_merge: { external_id: 'u-1' }, identifier_to_keep: { external_id: 'u-2' } },
          ],
        });
    }
    const { arms } = await store().campaignResults(api().workspaceId, {
      campaignId: 'campaign',
      goals: [SIGN_UP, CUP],
      timeZone: 'UTC',
    });

    const events = [...new Map((await stream(5)).map((event) => [event.id, event])).values()];
    // A user belongs to the variant of the earliest impression.
    const firsts = new Map<string, { timeMs: number; variant: string | null }>();
    for (const { type, userId, timeMs, properties } of events) {
      if (type !== 'users.messages.banner.Impression' && type !== 'users.campaigns.EnrollInControl') continue;
      const variant = properties['message_variation_id'] as string | null;
      const known = firsts.get(userId);
      if (!known || timeMs < known.timeMs) firsts.set(userId, { timeMs, variant });
    }
    const getUsers = (variant: string | null, type: string, index?: number) =>
      new Set(
        events
          .filter(
            (event) =>
              event.type === type &&
              firsts.get(event.userId)?.variant === variant &&
              (index === undefined || event.properties['conversion_behavior_index'] === index),
          )
          .map(({ userId }) => userId),
      ).size;
    expect(arms.length).toBeGreaterThan(1);
    for (const { variantId, goals, ...counts } of arms) {
      if (variantId === null)
        expect(getUsers(variantId, 'users.campaigns.EnrollInControl')).toBe(counts.exposed);
      else
        for (const { dataEvent, usersField } of MEASURES)
          expect(getUsers(variantId, dataEvent), dataEvent).toBe(counts[usersField]);
      for (const [index, goal] of goals.entries())
        expect(getUsers(variantId, 'users.campaigns.Conversion', index)).toBe(goal.converted);
    }
    const spent = events
      .filter(({ type }) => type === 'users.campaigns.Conversion')
      .reduce((sum, { properties }) => sum + (properties['revenue'] as number), 0);
    expect(spent).toBe(arms.reduce((sum, { goals }) => sum + goals[1]!.revenue, 0));
  });
});
