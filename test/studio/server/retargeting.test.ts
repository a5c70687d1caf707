import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SYNC_PATH, TRACK_PATH } from '../../../src/protocol/index.ts';
import { openStore, type Store } from '../../../src/service/index.ts';
import { APP_ID, aCampaign, aVariant } from '../../helpers/a-workspace.ts';
import { keptOpen, STORES } from '../../helpers/running-service.ts';
import { aStudioWorkspace, type RunningStudio, runStudio } from '../../helpers/running-studio.ts';

const DAY_MS = 86_400_000;
const ENVELOPE = { app_id: APP_ID, app_version: '1' };
const saying = (campaign_id: string, members: Record<string, unknown>) =>
  aCampaign({
    campaign_id,
    variants: [aVariant({ properties: { headline: { type: 'string', value: campaign_id } } })],
    ...members,
  });
const SPRING = saying('spring', {
  placements: ['home'],
  conversions: [{ event: 'signed_up', within_hours: 72 }],
});

describe.each(STORES)('retargeting audience on $name', ({ address }) => {
  let store: Store;
  let studio: RunningStudio;
  beforeEach(async () => {
    store = await openStore(await address());
  });
  afterEach(async () => {
    await studio.stop();
    await store.close();
  });

  const run = async (audience: unknown) => {
    const campaigns = [SPRING, saying('follow-up', { placements: ['side'], audience })];
    studio = await runStudio(aStudioWorkspace({ campaigns }), { store: keptOpen(store) });
    const { body } = await studio.fromPage(SYNC_PATH, {
      ...ENVELOPE,
      external_user_id: 'kim',
      placements: ['home'],
    });
    const act = async (event_type: string) => {
      const event = {
        id: body.banners.home.id,
        event_type,
        timestamp: new Date(studio.clock.now).toISOString(),
      };
      await studio.fromPage(TRACK_PATH, { ...ENVELOPE, external_user_id: 'kim', events: [event] });
    };
    const isShown = async (user = 'kim') => (await studio.headlines(user))['side'] === 'follow-up';
    return { act, isShown };
  };

  test.each([
    ['impression', 'impressions', 'last_impression_days_ago'],
    ['click', 'clicks', 'last_click_days_ago'],
    ['dismiss', 'dismissals', 'last_dismissal_days_ago'],
  ])('matches a user after one %s, within days', async (action, count, days) => {
    const { act, isShown } = await run({
      [`campaigns.spring.${count}`]: { $exists: true },
      [`campaigns.spring.${days}`]: { $lte: 7 },
    });
    expect(await isShown()).toBe(false);
    if (action !== 'impression') {
      await act('impression');
      expect(await isShown()).toBe(false);
    }
    await act(action);
    expect(await isShown()).toBe(true);
    expect(await isShown('somebody-else')).toBe(false);
    studio.clock.now += 8 * DAY_MS;
    expect(await isShown()).toBe(false);
  });

  test('excludes a user for some days, but not a user who never saw the campaign', async () => {
    const { act, isShown } = await run({
      'campaigns.spring.last_impression_days_ago': { $not: { $lte: 7 } },
    });
    expect(await isShown()).toBe(true);
    await act('impression');
    expect(await isShown()).toBe(false);
    studio.clock.now += 8 * DAY_MS;
    expect(await isShown()).toBe(true);
  });

  test('matches a conversion only after the first impression', async () => {
    const { act, isShown } = await run({ 'campaigns.spring.conversions': { $gte: 1 } });
    const signUp = () =>
      studio.track({
        events: [{ external_id: 'kim', name: 'signed_up', time: new Date(studio.clock.now).toISOString() }],
      });
    await signUp();
    studio.clock.now += 60_000;
    await act('impression');
    expect(await isShown()).toBe(false);
    studio.clock.now += 60_000;
    await signUp();
    expect(await isShown()).toBe(true);
  });

  test('appears in the reach estimate and in explain', async () => {
    const audience = { 'campaigns.spring.clicks': { $exists: true } };
    const { act } = await run(audience);
    for (let user = 0; user < 30; user += 1)
      await studio.track({ attributes: [{ external_id: `u${user}`, first_name: 'Jo' }] });
    await act('impression');
    await act('click');
    const cookie = await studio.signIn('Ada');
    const campaign = saying('follow-up', { placements: ['side'], audience });
    const reach = await studio.call('POST', '/api/reach', { cookie, body: { campaign } });
    expect(reach.body).toMatchObject({ users: 1, total: 31, shown: 1 });
    const none = { ...campaign, audience: { 'campaigns.spring.clicks': { $exists: false } } };
    expect(
      (await studio.call('POST', '/api/reach', { cookie, body: { campaign: none } })).body,
    ).toMatchObject({
      users: 30,
    });
  });
});
