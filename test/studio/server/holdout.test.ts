import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SYNC_PATH, TRACK_PATH } from '../../../src/protocol/index.ts';
import { openStore, type Store } from '../../../src/service/index.ts';
import { APP_ID, aCampaign } from '../../helpers/a-workspace.ts';
import { keptOpen, STORES } from '../../helpers/running-service.ts';
import { aStudioWorkspace, type RunningStudio, runStudio } from '../../helpers/running-studio.ts';

const HOLDOUT = {
  percentage: 30,
  starts_at: '2026-03-01T00:00:00Z',
  exempt_tags: ['service'],
  conversions: [{ product: 'teapot', within_hours: 24 }],
};
const CAMPAIGNS = [
  aCampaign({ campaign_id: 'sale', placements: ['home'] }),
  aCampaign({ campaign_id: 'outage', placements: ['side'], tags: ['service'] }),
];
const PEOPLE = Array.from({ length: 60 }, (_, i) => `u${i}`);
const ENVELOPE = { app_id: APP_ID, app_version: '1' };

describe.each(STORES)('global holdout on $name', ({ address }) => {
  let store: Store;
  let studio: RunningStudio;
  beforeEach(async () => {
    store = await openStore(await address());
    studio = await runStudio(aStudioWorkspace({ holdout: HOLDOUT, campaigns: CAMPAIGNS }), {
      store: keptOpen(store),
    });
  });
  afterEach(async () => {
    await studio.stop();
    await store.close();
  });

  const post = (path: string, body: object) => studio.fromPage(path, body);
  const sync = async (user: string) =>
    (await post(SYNC_PATH, { ...ENVELOPE, external_user_id: user, placements: ['home', 'side'] })).body
      .banners;
  const act = (user: string, id: string, event_type: string) =>
    post(TRACK_PATH, {
      ...ENVELOPE,
      external_user_id: user,
      events: [{ id, event_type, timestamp: new Date(studio.clock.now).toISOString() }],
    });

  test('shows held-out users only exempt campaigns, and compares all users', async () => {
    // An impression before the holdout started counts for none of its groups.
    studio.clock.now = Date.parse('2026-02-27T09:00:00Z');
    const { home } = await sync('old');
    expect(home.is_control).toBe(false);
    await act('old', home.id, 'impression');
    studio.clock.now = Date.parse('2026-03-02T09:00:00Z');
    let held = 0;
    for (const user of PEOPLE) {
      const banners = await sync(user);
      expect(banners.side.is_control).toBe(false);
      // Exempt campaigns assign no user to a group.
      await act(`${user} too`, (await sync(`${user} too`)).side.id, 'impression');
      await act(user, banners.home.id, 'impression');
      if (banners.home.is_control) held += 1;
      else await act(user, banners.home.id, 'click');
      // Stays the same at the next sync, on any replica.
      expect((await sync(user)).home.id).toBe(banners.home.id);
    }
    expect(held).toBeGreaterThan(8);
    expect(held).toBeLessThan(30);
    studio.clock.now += 3_600_000;
    const time = new Date(studio.clock.now).toISOString();
    const bought = { product_id: 'teapot', currency: 'EUR', price: 10, time };
    await studio.track({
      purchases: ['u0', 'u1', 'u2', 'old'].map((external_id) => ({ external_id, ...bought })),
    });
    const cookie = await studio.signIn('Vera');
    const { workspace } = (await studio.call('GET', '/api/session', { cookie })).body;
    expect(workspace.holdout).toMatchObject({ percentage: 30 });
    const { body } = await studio.call('GET', `/api/results/${workspace.holdout.id}`, { cookie });
    expect(body.arms).toMatchObject([
      { variantId: 'campaigns', exposed: 60 - held, clicked: 60 - held, impressions: 60 - held },
      { variantId: null, name: 'Control', exposed: held, clicked: 0 },
    ]);
    const goals = body.arms.map(
      ({ goals: [goal] }: { goals: { converted: number; revenue: number }[] }) => goal,
    );
    expect(goals[0].converted + goals[1].converted).toBe(3);
    expect(goals[0].revenue + goals[1].revenue).toBe(30);
    expect(body.ratio.isSuspicious).toBe(false);
    // The campaign's own results exclude these users.
    const own = (await studio.call('GET', '/api/results/sale', { cookie })).body;
    expect(own.arms).toMatchObject([{ variantId: 'a', exposed: 60 - held + 1 }]);
  });

  test('holds out no users before its start and no test users, and has no results without a holdout', async () => {
    const testing = { ...CAMPAIGNS[0], test_users: PEOPLE };
    studio.edit(aStudioWorkspace({ holdout: HOLDOUT, campaigns: [testing] }));
    for (const user of PEOPLE) expect((await sync(user)).home.is_control).toBe(false);
    studio.edit(
      aStudioWorkspace({ holdout: { ...HOLDOUT, starts_at: '2026-04-01T00:00:00Z' }, campaigns: CAMPAIGNS }),
    );
    for (const user of PEOPLE) expect((await sync(user)).home.is_control).toBe(false);
    studio.edit(aStudioWorkspace({ campaigns: CAMPAIGNS }));
    const cookie = await studio.signIn('Vera');
    expect((await studio.call('GET', '/api/results/@holdout:1', { cookie })).status).toBe(404);
  });
});
