import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SYNC_PATH, TRACK_PATH } from '../../../src/protocol/index.ts';
import { openStore, type Store, silentLog } from '../../../src/service/index.ts';
import { readAlerts, stopRollouts } from '../../../src/studio/index.ts';
import { APP_ID, aCampaign, aVariant } from '../../helpers/a-workspace.ts';
import { keptOpen, STORES } from '../../helpers/running-service.ts';
import { aStudioWorkspace, type RunningStudio, runStudio } from '../../helpers/running-studio.ts';

const DAY_MS = 86_400_000;
const variant = (variant_id: string) =>
  aVariant({ variant_id, properties: { headline: { type: 'string', value: variant_id } } });
const CAMPAIGN = aCampaign({
  campaign_id: 'sale',
  name: 'Sale',
  placements: ['home'],
  variants: [variant('a'), variant('b')],
});
const SOURCE = { kind: 'csv', files: 'crm.csv', rows: 'attributes', columns: { PLAN: 'plan' } };
const CONTENT = aStudioWorkspace({
  campaigns: [CAMPAIGN],
  integrations: [
    { integration_id: 'crm', integration_name: 'Customers', source: SOURCE, schedule: '0 4 * * *' },
  ],
});
const ENVELOPE = { app_id: APP_ID, app_version: '1' };

describe.each(STORES)('alerts on $name', ({ address }) => {
  let store: Store;
  let studio: RunningStudio;
  beforeEach(async () => {
    store = await openStore(await address());
    studio = await runStudio(CONTENT, { store: keptOpen(store) });
  });
  afterEach(async () => {
    await studio.stop();
    await store.close();
  });

  const read = (nowMs = studio.clock.now) => {
    const [workspace] = studio.workspaces.registry().workspaces;
    return readAlerts(workspace!, store, nowMs);
  };
  const alerts = async (nowMs?: number) => (await read(nowMs)).map(({ id }) => id);
  /** Users sync, and those whose group is named see the banner. Returns the users of each group who saw it. */
  const visit = async (prefix: string, groups: readonly string[], count = 40) => {
    const seen = new Map<string, string[]>(groups.map((group) => [group, []]));
    const visitOnce = async (user: string) => {
      const body = { ...ENVELOPE, external_user_id: user, placements: ['home'] };
      const { home } = (await studio.fromPage(SYNC_PATH, body)).body.banners;
      const users = seen.get(home.is_control ? 'control' : home.properties.headline.value);
      if (!users) return;
      const timestamp = new Date(studio.clock.now).toISOString();
      const events = [{ id: home.id, event_type: 'impression', timestamp }];
      await studio.fromPage(TRACK_PATH, { ...ENVELOPE, external_user_id: user, events });
      users.push(user);
    };
    await Promise.all(Array.from({ length: count }, (_, i) => visitOnce(`${prefix}${i}`)));
    return seen;
  };
  const publish = async (campaign: ReturnType<typeof aCampaign>, based_on = 0) => {
    const cookie = await studio.signIn('Pia');
    const campaign_id = String(campaign['campaign_id']);
    const { body } = await studio.call('PUT', `/api/drafts/${campaign_id}`, {
      body: { campaign, based_on },
      cookie,
    });
    const { status } = await studio.call('POST', '/api/releases', {
      body: { campaign_id, revision: body.revision, note: '' },
      cookie,
    });
    expect(status).toBe(201);
  };

  test('reports a sample ratio mismatch while the results page reports it', async () => {
    await visit('early', ['a']);
    expect(await alerts()).toEqual(['sample_ratio_mismatch:sale']);
    const vera = await studio.signIn('Vera');
    const { body } = await studio.call('GET', '/api/alerts', { cookie: vera });
    expect(body.alerts).toEqual([
      {
        id: 'sample_ratio_mismatch:sale',
        type: 'sample_ratio_mismatch',
        subjectId: 'sale',
        subjectName: 'Sale',
        message: 'Group sizes differ from the planned split. Find the cause before trusting the results.',
      },
    ]);
    expect((await studio.call('GET', '/api/results/sale', { cookie: vera })).body.ratio.isSuspicious).toBe(
      true,
    );
  });

  /** A campaign for half of the users, and a sign-up of those who are named. */
  const rollOut = async (more: Record<string, unknown> = {}) => {
    const rollout = {
      ...CAMPAIGN,
      control_percentage: 50,
      target_sample_size: 100,
      conversions: [{ event: 'signed_up', within_hours: 24 }],
      variants: [variant('a')],
      ...more,
    };
    await publish(rollout);
    const groups = await visit('u', ['a', 'control'], 150);
    const signUp = (users: readonly string[]) =>
      studio.track({
        events: users.map((external_id) => ({
          external_id,
          name: 'signed_up',
          time: new Date(studio.clock.now).toISOString(),
        })),
      });
    await signUp([...groups.get('a')!.slice(0, 10), ...groups.get('control')!.slice(0, 10)]);
    return { rollout, loseToControl: () => signUp(groups.get('control')!.slice(10, 45)) };
  };

  test('reports a goal below the control group while the split is unchanged and the campaign is live', async () => {
    const endsAtMs = studio.clock.now + DAY_MS;
    const { rollout, loseToControl } = await rollOut({ ends_at: new Date(endsAtMs).toISOString() });
    expect(await alerts()).toEqual([]);
    await loseToControl();
    const [alert] = await read();
    expect(alert).toMatchObject({ type: 'goal_below_control', subjectId: 'sale', subjectName: 'Sale' });
    expect(alert!.message).toMatch(
      /^The control group beats a by \d+\.\d to \d+\.\d percentage points in “signed_up”\. Stop the campaign/,
    );
    expect(await alerts(endsAtMs)).toEqual([]);
    await publish({ ...rollout, control_percentage: 25 }, 1);
    expect(await alerts()).toEqual([]);
  });

  test('stops a campaign if its scheduled release has this condition', async () => {
    const { rollout, loseToControl } = await rollOut();
    const cookie = await studio.signIn('Pia');
    const { body } = await studio.call('PUT', '/api/drafts/sale', {
      body: { campaign: { ...rollout, control_percentage: 0 }, based_on: 1 },
      cookie,
    });
    const whole = { campaign_id: 'sale', revision: body.revision, note: '', stop_if: 'goal_below_control' };
    const schedule = (more: Record<string, unknown>) =>
      studio.call('POST', '/api/releases', { body: { ...whole, ...more }, cookie });
    const released = async () =>
      (await studio.call('GET', '/api/releases?campaign=sale', { cookie })).body.releases;
    const stopLosing = () =>
      stopRollouts({ workspaces: studio.workspaces, store, log: silentLog }, studio.clock.now);
    expect((await schedule({})).status).toBe(400);
    const live_at = new Date(studio.clock.now + DAY_MS).toISOString();
    expect((await schedule({ live_at })).status).toBe(201);
    await stopLosing();
    expect(await released()).toHaveLength(2);

    await loseToControl();
    await Promise.all([stopLosing(), stopLosing()]);
    const [stop, scheduled, ...older] = await released();
    expect(stop).toMatchObject({ author: 'Pia', campaign: { status: 'stopped', control_percentage: 50 } });
    expect(stop.note).toMatch(/^Automatic stop, set with release 2\. The control group beats a by /);
    expect(scheduled.cancelledAt).not.toBeNull();
    expect(older).toHaveLength(1);
    expect(await studio.headlines('u1')).toMatchObject({ home: null });
    const audit = await store.studio.audit('test', { limit: 10 });
    expect(audit.filter(({ action }) => action === 'campaign.stop')).toMatchObject([
      { operator: 'Pia', subject: 'sale', details: 'automatically, as release 3' },
    ]);
    await stopLosing();
    expect(await released()).toHaveLength(3);
  });

  test('reports a live campaign that no longer reaches users, until an operator stops it', async () => {
    await visit('u', ['a', 'b']);
    studio.clock.now += DAY_MS;
    expect(await alerts()).toEqual([]);
    studio.clock.now += DAY_MS;
    expect(await alerts()).toEqual(['no_impressions:sale']);
    studio.edit({ ...CONTENT, campaigns: [{ ...CAMPAIGN, status: 'stopped' }] });
    expect(await alerts()).toEqual([]);
    studio.edit({
      ...CONTENT,
      campaigns: [{ ...CAMPAIGN, starts_at: new Date(studio.clock.now - 3_600_000).toISOString() }],
    });
    expect(await alerts()).toEqual([]);
  });

  test('reports a campaign that can no longer be loaded', async () => {
    await publish({ ...CAMPAIGN, campaign_id: 'strip', placements: ['side'] });
    expect(await alerts()).toEqual([]);
    studio.edit({ ...CONTENT, placements: [{ placement_id: 'home' }] });
    expect(await alerts()).toEqual(['campaign_halted:strip']);
  });

  test('reports an integration whose last finished run failed', async () => {
    const claim = async () =>
      (await store.ingestion.acquireLease({
        workspaceId: 'test',
        integrationId: 'crm',
        state: (await store.ingestion.states('test'))[0] ?? null,
        trigger: 'schedule',
        nowMs: studio.clock.now,
        leaseMs: 1_000,
      }))!.run;
    const finish = async (run: Awaited<ReturnType<typeof claim>>, status: 'error' | 'success') => {
      studio.clock.now += 60_000;
      await store.ingestion.finish({ ...run, status, message: 'no file', finishedAtMs: studio.clock.now });
    };
    await finish(await claim(), 'error');
    expect(await alerts()).toEqual(['integration_failed:crm']);
    const next = await claim();
    expect(await alerts()).toEqual(['integration_failed:crm']);
    await finish(next, 'success');
    expect(await alerts()).toEqual([]);
  });
});
