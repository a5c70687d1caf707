import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SYNC_PATH, TRACK_PATH } from '../../../src/protocol/index.ts';
import { openStore, type Store } from '../../../src/service/index.ts';
import { readAlerts } from '../../../src/studio/index.ts';
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

  const alerts = async () => {
    const [workspace] = studio.workspaces.registry().workspaces;
    return (await readAlerts(workspace!, store, studio.clock.now)).map(({ id }) => id);
  };
  /** Users sync, and those whose group is named see the banner. */
  const visit = async (prefix: string, groups: readonly string[]): Promise<void> => {
    for (let i = 0; i < 40; i += 1) {
      const user = `${prefix}${i}`;
      const body = { ...ENVELOPE, external_user_id: user, placements: ['home'] };
      const { home } = (await studio.fromPage(SYNC_PATH, body)).body.banners;
      if (!groups.includes(home.properties.headline.value)) continue;
      const timestamp = new Date(studio.clock.now).toISOString();
      const events = [{ id: home.id, event_type: 'impression', timestamp }];
      await studio.fromPage(TRACK_PATH, { ...ENVELOPE, external_user_id: user, events });
    }
  };

  test('report a sample ratio mismatch while the results page reports it', async () => {
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

  test('report a live campaign that no longer reaches users, until an operator stops it', async () => {
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

  test('report a campaign that can no longer be loaded', async () => {
    const pia = await studio.signIn('Pia');
    const campaign = { ...CAMPAIGN, campaign_id: 'strip', placements: ['side'] };
    const saved = await studio.call('PUT', '/api/drafts/strip', {
      body: { campaign, based_on: 0 },
      cookie: pia,
    });
    const { revision } = saved.body;
    await studio.call('POST', '/api/releases', {
      body: { campaign_id: 'strip', revision, note: '' },
      cookie: pia,
    });
    expect(await alerts()).toEqual([]);
    studio.edit({ ...CONTENT, placements: [{ placement_id: 'home' }] });
    expect(await alerts()).toEqual(['campaign_halted:strip']);
  });

  test('report an integration whose last finished run failed', async () => {
    const claim = async () =>
      (await store.ingestion.acquireLease({
        workspaceId: 'test',
        integrationId: 'crm',
        state: (await store.ingestion.states('test'))[0] ?? null,
        trigger: 'schedule',
        nowMs: studio.clock.now,
        leaseMs: 1_000,
      }))!;
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
