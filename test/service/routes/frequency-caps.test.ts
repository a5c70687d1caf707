import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openStore, type Store } from '../../../src/service/index.ts';
import { APP_ID, aCampaign, aWorkspace, CLIENT_KEY, SERVER_KEY } from '../../helpers/a-workspace.ts';
import { keptOpen, type RunningService, runService, STORES } from '../../helpers/running-service.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe.each(STORES)('frequency caps on $name', ({ address }) => {
  let shared: Store;
  let service: RunningService;
  let workspaceId = '';
  beforeAll(async () => {
    shared = await openStore(await address());
  });
  afterAll(() => shared.close());
  beforeEach(({ task }) => {
    workspaceId = `test-${task.id}`;
  });
  afterEach(() => service.stop());

  const run = async (campaigns: Record<string, unknown>[], members: Record<string, unknown> = {}) => {
    const limits = { banners_sync: { per_user: { requests: 100_000, window_seconds: 60 } } };
    const keys = [
      { type: 'client', key: CLIENT_KEY, permissions: ['banners.sync', 'banners.track'] },
      { type: 'server', key: SERVER_KEY, permissions: ['users.track', 'campaigns.explain'] },
    ];
    const file = aWorkspace({ workspace_id: workspaceId, api_keys: keys, campaigns, limits, ...members });
    service = await runService([file], { store: keptOpen(shared) });
  };
  const asked = { external_user_id: 'u-771', app_id: APP_ID, app_version: '1', placements: ['home', 'side'] };
  const sync = async (
    members: Record<string, unknown> = {},
  ): Promise<Record<string, { id: string } | null>> => {
    const path = '/v1/device-messaging/banners/sync';
    return (await service.call('POST', path, { key: CLIENT_KEY, body: { ...asked, ...members } })).body
      .banners;
  };
  const tell = (id: string, ms: number, event_type = 'impression') =>
    service.call('POST', '/v1/device-messaging/banners/track', {
      key: CLIENT_KEY,
      body: { ...asked, events: [{ id, event_type, timestamp: new Date(ms).toISOString() }] },
    });
  /** Syncs and tracks an impression of the banner in `home`. Resolves with whether there was a banner. */
  const see = async (event_type?: string): Promise<boolean> => {
    const { home } = await sync();
    if (!home) return false;
    await tell(home.id, service.clock.now);
    if (event_type) await tell(home.id, service.clock.now, event_type);
    service.clock.now += 1_000;
    return true;
  };
  const reason = async (campaignId = 'c1', placement = 'home') => {
    const { body } = await service.call('POST', '/placard/explain', { key: SERVER_KEY, body: asked });
    return body.placements[placement].find(
      (each: { campaign_id: string }) => each.campaign_id === campaignId,
    );
  };
  const shownIn = async (placement: string) => {
    const { body } = await service.call('POST', '/placard/explain', { key: SERVER_KEY, body: asked });
    const all: { campaign_id: string; outcome: string }[] = body.placements[placement];
    return all.find(({ outcome }) => outcome === 'shown')?.campaign_id;
  };

  test('reset a daily limit at midnight in the time zone of the workspace', async () => {
    const campaign = aCampaign({ frequency: { impressions: { max: 2, days: 1 } } });
    await run([campaign], { studio: { time_zone: 'Asia/Tokyo' } });
    // 23:30 in Tokyo.
    service.clock.now = Date.parse('2026-03-01T14:30:00Z');
    expect([await see(), await see(), await see()]).toEqual([true, true, false]);
    expect(await reason()).toMatchObject({
      outcome: 'frequency_capped',
      limit: 'impressions',
      max: 2,
      count: 2,
      eligible_again_at: '2026-03-01T15:00:00.000Z',
      message:
        'the limit frequency.impressions is reached (2 of 2); it is shown again from 2026-03-01T15:00:00.000Z',
    });
    service.clock.now = Date.parse('2026-03-01T14:59:59.999Z');
    expect(await see()).toBe(false);
    service.clock.now = Date.parse('2026-03-01T15:00:00Z');
    expect(await see()).toBe(true);
  });

  test('use the actual length of a day with a clock change', async () => {
    await run([aCampaign({ frequency: { impressions: { max: 1, days: 1 } } })], {
      studio: { time_zone: 'Europe/Berlin' },
    });
    service.clock.now = Date.parse('2026-03-28T23:00:00Z');
    expect(await see()).toBe(true);
    expect((await reason()).eligible_again_at).toBe('2026-03-29T22:00:00.000Z');
  });

  test('drop the first day from a window of several days at midnight', async () => {
    await run([aCampaign({ frequency: { impressions: { max: 2, days: 7 } } })]);
    expect(await see()).toBe(true);
    service.clock.now += 3 * DAY;
    expect([await see(), await see()]).toEqual([true, false]);
    expect(await reason()).toMatchObject({ eligible_again_at: '2026-03-08T00:00:00.000Z', count: 2 });
    service.clock.now = Date.parse('2026-03-08T00:00:00Z');
    expect([await see(), await see()]).toEqual([true, false]);
  });

  test('count both banners of two tabs that sync at once', async () => {
    await run([aCampaign({ frequency: { impressions: { max: 3, days: 1 } } })]);
    const tabs = [await sync(), await sync()];
    await Promise.all(tabs.map(({ home }, index) => tell(home!.id, service.clock.now + index)));
    service.clock.now += 1_000;
    expect([await see(), await see()]).toEqual([true, false]);
    expect((await reason()).count).toBe(3);
  });

  test('count a future impression on the day of its receipt', async () => {
    await run([aCampaign({ frequency: { impressions: { max: 1, days: 1 } } })]);
    const { home } = await sync();
    await tell(home!.id, service.clock.now + 30 * DAY);
    expect(await see()).toBe(false);
    service.clock.now += DAY;
    expect(await see()).toBe(true);
  });

  test.each([
    ['impressions', 2, undefined],
    ['clicks', 2, 'click'],
  ])('end a campaign after a number of %s', async (name, count, event) => {
    await run([aCampaign({ frequency: { stop_after: { [name]: count } } })]);
    expect([await see(event), await see(event), await see(event)]).toEqual([true, true, false]);
    service.clock.now += 400 * DAY;
    expect(await reason()).toMatchObject({
      limit: `stop_after.${name}`,
      max: 2,
      count: 2,
      eligible_again_at: null,
    });
  });

  test('end a campaign after a conversion, but not after events before its first impression', async () => {
    const conversions = [
      { event: 'signed_up', within_hours: 24 },
      { product: 'teapot', within_hours: 24 },
    ];
    await run([aCampaign({ conversions, frequency: { stop_after: { conversions: 2 } } })]);
    const at = () => new Date(service.clock.now).toISOString();
    const track = (body: unknown) => service.call('POST', '/users/track', { key: SERVER_KEY, body });
    const signUp = () => track({ events: [{ external_id: 'u-771', name: 'signed_up', time: at() }] });
    await signUp();
    service.clock.now += HOUR;
    expect(await see()).toBe(true);
    const purchase = { product_id: 'teapot', currency: 'EUR', price: 40 };
    await track({ purchases: [{ external_id: 'u-771', time: at(), ...purchase }] });
    expect(await see()).toBe(true);
    await signUp();
    expect(await see()).toBe(false);
    expect((await reason()).message).toContain('frequency.stop_after.conversions is reached (2 of 2)');
  });

  test('apply the same limit to the control group, to keep it comparable', async () => {
    await run([aCampaign({ control_percentage: 100, frequency: { stop_after: { impressions: 1 } } })]);
    expect([await see(), await see()]).toEqual([true, false]);
  });

  test('do not limit test users and test sends', async () => {
    const frequency = { stop_after: { impressions: 1 } };
    const cap = { tag: 'promo', campaigns_per_day: 1 };
    await run([aCampaign({ test_users: ['u-771'], frequency, tags: ['promo'] })], { tag_caps: [cap] });
    expect([await see(), await see(), await see()]).toEqual([true, true, true]);
  });

  test('limit the campaigns per day by tag, except shown and exempt ones', async () => {
    const promo = (campaign_id: string, placement: string, priority: string) =>
      aCampaign({ campaign_id, placements: [placement], priority, tags: ['promo'] });
    await run(
      [
        promo('one', 'home', 'high'),
        promo('two', 'side', 'high'),
        promo('legal', 'side', 'low'),
        aCampaign({ campaign_id: 'plain', placements: ['side'], priority: 'medium' }),
      ],
      { tag_caps: [{ tag: 'promo', campaigns_per_day: 1, exempt: ['legal'] }] },
    );
    // Within one response, the first placement's campaign counts towards the second's caps.
    expect([await shownIn('home'), await shownIn('side')]).toEqual(['one', 'plain']);
    expect(await reason('two', 'side')).toMatchObject({
      outcome: 'frequency_capped',
      limit: 'tag',
      tag: 'promo',
      max: 1,
      count: 1,
      eligible_again_at: '2026-03-02T00:00:00.000Z',
    });
    expect(await reason('legal', 'side')).toMatchObject({ outcome: 'outranked' });
    const { side } = await sync({ placements: ['side'] });
    await tell(side!.id, service.clock.now);
    // The first placement's campaign is now capped, and the one already seen continues.
    expect([await shownIn('home'), await shownIn('side')]).toEqual([undefined, 'two']);
    service.clock.now += DAY;
    expect(await shownIn('home')).toBe('one');
  });
});
