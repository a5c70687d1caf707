import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SYNC_PATH, TRACK_PATH } from '../../../src/protocol/index.ts';
import { openStore, type Store } from '../../../src/service/index.ts';
import { APP_ID, aCampaign, aVariant } from '../../helpers/a-workspace.ts';
import { keptOpen, STORES } from '../../helpers/running-service.ts';
import { aStudioWorkspace, type RunningStudio, runStudio } from '../../helpers/running-studio.ts';

const variant = (variant_id: string) =>
  aVariant({
    variant_id,
    name: variant_id.toUpperCase(),
    properties: { headline: { type: 'string', value: variant_id } },
  });
const CAMPAIGN = aCampaign({
  campaign_id: 'sale',
  placements: ['home'],
  control_percentage: 20,
  conversions: [{ event: 'signed_up', within_hours: 720 }],
  variants: [variant('a'), variant('b')],
});
const USERS = Array.from({ length: 80 }, (_, i) => `u${i}`);
const ENVELOPE = { app_id: APP_ID, app_version: '1' };

describe.each(STORES)('end of an A/B test on $name', ({ address }) => {
  let store: Store;
  /** Store as the Studio uses it. */
  let served: Store;
  let studio: RunningStudio;
  let pia: string;
  beforeEach(async () => {
    store = await openStore(await address());
    served = keptOpen(store);
    studio = await runStudio(aStudioWorkspace({ campaigns: [CAMPAIGN] }), { store: served });
    pia = await studio.signIn('Pia');
  });
  afterEach(async () => {
    await studio.stop();
    await store.close();
  });

  const sync = async (user: string) =>
    (await studio.fromPage(SYNC_PATH, { ...ENVELOPE, external_user_id: user, placements: ['home'] })).body
      .banners.home;
  const act = (user: string, id: string, event_type: string) =>
    studio.fromPage(TRACK_PATH, {
      ...ENVELOPE,
      external_user_id: user,
      events: [{ id, event_type, timestamp: new Date(studio.clock.now).toISOString() }],
    });
  /** Every user sees the banner. Returns the group of each user. */
  const visit = async (users: readonly string[]): Promise<Map<string, string>> => {
    const groups = new Map<string, string>();
    for (const user of users) {
      const banner = await sync(user);
      groups.set(user, banner.is_control ? 'control' : banner.properties.headline.value);
      await act(user, banner.id, 'impression');
      studio.clock.now += 1_000;
    }
    return groups;
  };
  const results = async () => (await studio.call('GET', '/api/results/sale', { cookie: pia })).body;
  const end = (more: Record<string, unknown> = {}) =>
    studio.call('POST', '/api/campaigns/sale/end-test', {
      cookie: pia,
      body: { winner: 'b', keep_control_group: true, note: 'B is better', based_on: 0, ...more },
    });
  const size = (groups: Map<string, string>, group: string) =>
    [...groups.values()].filter((each) => each === group).length;

  test('returns the time of the results, and freezes none while stored events are not counted', async () => {
    await visit(USERS.slice(0, 5));
    const asOfMs = Date.UTC(2026, 0, 1);
    served.campaignResults = async (...query) => ({
      ...(await store.campaignResults(...query)),
      asOfMs,
      isCaughtUp: false,
    });
    expect((await results()).asOf).toBe(new Date(asOfMs).toISOString());
    expect(await end()).toMatchObject({ status: 503 });
    expect((await results()).ended).toBeNull();
    served.campaignResults = store.campaignResults;
    expect(await end()).toMatchObject({ status: 201 });
  });

  test('freezes the results, shows everyone the winner, and counts later events separately', async () => {
    const before = await visit(USERS);
    const running = await results();
    expect(running.ended).toBeNull();
    expect(await end()).toMatchObject({ status: 201, body: { release: 1 } });

    studio.clock.now += 600_000;
    const after = await visit(USERS);
    for (const [user, group] of after)
      expect(group, user).toBe(before.get(user) === 'control' ? 'control' : 'b');
    const clicked = USERS.filter((user) => before.get(user) === 'a').slice(0, 3);
    for (const user of clicked) await act(user, (await sync(user)).id, 'click');
    const fresh = await visit(['new0', 'new1', 'new2', 'new3', 'new4']);

    const frozen = await results();
    expect(frozen.arms).toEqual(running.arms);
    expect(frozen.comparisons).toEqual(running.comparisons);
    expect(frozen.days).toEqual(running.days);
    expect(frozen.ratio).toEqual(running.ratio);
    expect(frozen).toMatchObject({ isRedivided: false, edits: [] });
    const countGroup = (group: string) => size(fresh, group);
    expect(frozen.ended).toMatchObject({
      release: 1,
      winner: 'B',
      since: [
        {
          isControl: false,
          users: countGroup('b'),
          clicks: 3,
          impressions: USERS.length - size(before, 'control') + countGroup('b'),
          converted: [0],
        },
        { isControl: true, users: countGroup('control'), clicks: 0 },
      ],
    });
  });

  test('ends the control group unless it is kept', async () => {
    const before = await visit(USERS);
    await end({ keep_control_group: false });
    const after = await visit(USERS);
    expect(size(before, 'control')).toBeGreaterThan(0);
    expect(size(after, 'b')).toBe(USERS.length);
  });

  test('returns to running results when the split is restored', async () => {
    await visit(USERS);
    await end();
    // The campaign comes from the file, so the history has no release to restore.
    const draft = await studio.call('PUT', '/api/drafts/sale', {
      cookie: pia,
      body: { campaign: CAMPAIGN, based_on: 1 },
    });
    await studio.call('POST', '/api/releases', {
      cookie: pia,
      body: { campaign_id: 'sale', revision: draft.body.revision, note: '' },
    });
    expect((await results()).ended).toBeNull();
  });

  test('rejects an unknown variant, an outdated release and an operator without the role', async () => {
    expect(await end({ winner: 'z' })).toMatchObject({
      status: 404,
      body: { message: "The campaign has no variant 'z'" },
    });
    await end();
    expect((await end()).status).toBe(409);
    const ed = await studio.signIn('Ed');
    const { status } = await studio.call('POST', '/api/campaigns/sale/end-test', {
      cookie: ed,
      body: { winner: 'b', keep_control_group: true, note: '', based_on: 1 },
    });
    expect(status).toBe(403);
  });
});
