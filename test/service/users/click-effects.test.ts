import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SYNC_PATH, TRACK_PATH } from '../../../src/protocol/index.ts';
import { openStore, type Store } from '../../../src/service/index.ts';
import { APP_ID, aCampaign } from '../../helpers/a-workspace.ts';
import { keptOpen, STORES } from '../../helpers/running-service.ts';
import { aStudioWorkspace, type RunningStudio, runStudio } from '../../helpers/running-studio.ts';

const ON_CLICK = { event: 'asked_for_news', attributes: { wants_news: true, source: 'banner' } };
const CAMPAIGN = aCampaign({
  campaign_id: 'news',
  placements: ['home'],
  conversions: [{ event: 'asked_for_news', within_hours: 24 }],
  variants: [
    { variant_id: 'a', on_click: ON_CLICK, properties: { headline: { type: 'string', value: 'News?' } } },
  ],
});
const ENVELOPE = { app_id: APP_ID, app_version: '1' };
const NOW = '2026-03-02T09:00:00Z';

describe.each(STORES)('click effects on $name', ({ address }) => {
  let store: Store;
  let studio: RunningStudio;
  beforeEach(async () => {
    store = await openStore(await address());
    studio = await runStudio(aStudioWorkspace({ campaigns: [CAMPAIGN] }), { store: keptOpen(store) });
  });
  afterEach(async () => {
    await studio.stop();
    await store.close();
  });

  const post = (path: string, body: object) => studio.fromPage(path, { ...ENVELOPE, ...body });
  const bannerFor = async (user: string) =>
    (await post(SYNC_PATH, { external_user_id: user, placements: ['home'] })).body.banners.home.id as string;
  const act = (user: string, id: string, types: string[], timestamp = NOW) =>
    post(TRACK_PATH, {
      external_user_id: user,
      events: types.map((event_type) => ({ id, event_type, timestamp })),
    });
  const getProfile = async (user: string) =>
    (await store.readUsers('test', [{ by: 'external_id', value: user }]))[0];

  test('apply once per click, even if it is sent repeatedly or concurrently', async () => {
    const id = await bannerFor('u1');
    expect((await act('u1', id, ['impression'])).status).toBe(202);
    expect(await getProfile('u1')).toBeUndefined();
    await Promise.all(Array.from({ length: 5 }, () => act('u1', id, ['click'])));
    await act('u1', id, ['click', 'click']);
    const profile = (await getProfile('u1'))!;
    expect(profile.custom).toEqual({ wants_news: true, source: 'banner' });
    expect(profile.events['asked_for_news']).toMatchObject({ count: 1 });
    // A second click is a separate event.
    await act('u1', id, ['click'], '2026-03-02T09:00:01Z');
    expect((await getProfile('u1'))!.events['asked_for_news']).toMatchObject({ count: 2 });
    const events = [];
    for await (const event of store.exportEvents('test')) events.push(event);
    expect(events).toMatchObject([{ name: 'asked_for_news', appId: APP_ID }, { name: 'asked_for_news' }]);
    const cookie = await studio.signIn('Vera');
    const { body } = await studio.call('GET', '/api/results/news', { cookie });
    expect(body.arms).toMatchObject([{ clicked: 1, clicks: 2, goals: [{ converted: 1 }] }]);
  });

  test('apply once if a request with more clicks than a page of results is repeated', async () => {
    const id = await bannerFor('u1');
    const clicks = Array.from({ length: 150 }, (_, second) => ({
      id,
      event_type: 'click',
      timestamp: new Date(Date.parse(NOW) - second * 1_000).toISOString(),
    }));
    for (let again = 0; again < 2; again += 1) {
      expect((await post(TRACK_PATH, { external_user_id: 'u1', events: clicks })).status).toBe(202);
    }
    expect((await getProfile('u1'))!.events['asked_for_news']).toMatchObject({ count: 150 });
  });

  test('do not apply again on a repeated click after the user has changed the value', async () => {
    const id = await bannerFor('u1');
    await act('u1', id, ['impression', 'click']);
    await studio.track({ attributes: [{ external_id: 'u1', wants_news: false }] });
    await act('u1', id, ['click']);
    expect((await getProfile('u1'))!.custom['wants_news']).toBe(false);
  });

  test('do not apply to a banner of another user, a test user, a blocked user, or a removed campaign', async () => {
    const mine = await bannerFor('u1');
    await act('u1', mine, ['impression']);
    const theirs = await bannerFor('u2');
    await act('u2', theirs, ['impression']);
    await act('u1', theirs, ['click']);
    expect(await getProfile('u1')).toBeUndefined();
    studio.edit(
      aStudioWorkspace({ campaigns: [{ ...CAMPAIGN, test_users: ['t1'] }], blocked_external_ids: ['b1'] }),
    );
    for (const user of ['t1', 'b1']) {
      await act(user, await bannerFor(user), ['impression', 'click']);
      expect(await getProfile(user)).toBeUndefined();
    }
    studio.edit(aStudioWorkspace({ campaigns: [] }));
    expect((await act('u2', theirs, ['click'])).status).toBe(202);
    expect(await getProfile('u2')).toBeUndefined();
  });
});

test.each([
  [{ country: 5 }, "country: expected a value that 'country' can have, got 5"],
  [
    { email_subscribe: 'yes' },
    `email_subscribe: expected a value that 'email_subscribe' can have, got "yes"`,
  ],
  [{ dob: '2000-13-01' }, "dob: expected a value that 'dob' can have"],
  [{ tier: 'gold', gender: 'x' }, "gender: expected a value that 'gender' can have"],
])('rejects click effects with a value that /users/track rejects: %j', async (attributes, problem) => {
  const [variant] = CAMPAIGN.variants as object[];
  const withClick = (attributes: object) =>
    runStudio(
      aStudioWorkspace({
        campaigns: [{ ...CAMPAIGN, variants: [{ ...variant, on_click: { attributes } }] }],
      }),
    );
  await expect(withClick(attributes)).rejects.toThrow(problem);
  // Valid values of the attribute are accepted.
  await (await withClick({ country: 'DE', dob: '2000-12-01', gender: 'F', tier: 5 })).stop();
});

test('rejects unsupported click effects when it reads the campaign', async () => {
  const [variant] = CAMPAIGN.variants as object[];
  for (const attributes of [{ email: 'kim@example.org' }, { external_id: 'x' }, { tier: { $add: [1] } }]) {
    const campaign = { ...CAMPAIGN, variants: [{ ...variant, on_click: { attributes } }] };
    await expect(runStudio(aStudioWorkspace({ campaigns: [campaign] }))).rejects.toThrow(
      /on_click\.attributes/,
    );
  }
});
