import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SYNC_PATH, TRACK_PATH } from '../../src/protocol/index.ts';
import { APP_ID, aCampaign } from '../helpers/a-workspace.ts';
import { runMcpStudio } from '../helpers/running-mcp.ts';
import { anOperator, aStudioWorkspace } from '../helpers/running-studio.ts';

/** Ten typical agent tasks. Records the calls and checks the results. */
const text = (value: string) => ({ headline: { type: 'string', value } });
const variant = (variant_id: string, headline: string, german: string) => ({
  variant_id,
  weight: 50,
  properties: text(headline),
  translations: { de: { headline: german } },
});
const SPRING = aCampaign({
  campaign_id: 'spring',
  name: 'Spring',
  audience: { tier: 'gold' },
  ends_at: '2026-06-01T00:00:00Z',
});
const TEST = aCampaign({
  campaign_id: 'headline-test',
  name: 'Two headlines',
  placements: ['side'],
  language: 'en',
  ends_at: '2026-04-01T00:00:00Z',
  conversions: [{ event: 'bought', within_hours: 24 }],
  variants: [variant('a', 'Save 20%', 'Spare 20 %'), variant('b', 'Free delivery', 'Gratis Lieferung')],
});

let mcp: Awaited<ReturnType<typeof runMcpStudio>>;
let agent: Awaited<ReturnType<typeof mcp.connect>>;
beforeAll(async () => {
  const operators = [anOperator('Ann', 'publish', { can_view_users: true }), anOperator('Vera', 'view')];
  mcp = await runMcpStudio(aStudioWorkspace({ operators, campaigns: [SPRING] }));
  agent = await mcp.connect('Ann');
  await mcp.studio.track({
    attributes: [
      { external_id: 'u-771', tier: 'silver' },
      { external_id: 'u-772', tier: 'gold' },
    ],
  });
});
afterAll(() => mcp.stop());

const ok = async (name: string, args: Record<string, unknown> = {}) => {
  const answer = await agent.call(name, args);
  expect(answer.isError, answer.text).toBe(false);
  expect(answer.value.studio_url.startsWith(`${mcp.url}/`)).toBe(true);
  return answer.value;
};
const rejected = async (name: string, args: Record<string, unknown>) => {
  const answer = await agent.call(name, args);
  expect(answer.isError, answer.text).toBe(true);
  return answer.text;
};
const getDraft = async (campaign_id: string) => (await ok('get_campaign', { campaign_id })).draft;

describe('an agent', () => {
  test('1: lists the workspace', async () => {
    const { operator, workspace, studio_url } = await ok('get_workspace');
    expect(operator).toEqual({ name: 'Ann', role: 'publish', can_view_users: true });
    expect(workspace.placements.map(({ id }: { id: string }) => id)).toEqual(['home', 'side']);
    expect(studio_url).toBe(`${mcp.url}/`);
    const { campaign, templates } = await ok('get_schema');
    expect(campaign.required).toContain('variants');
    expect(templates[0].properties[0]).toMatchObject({ name: 'headline', type: 'string' });
  });

  test('2: drafts an A/B test of two headlines in two languages, invisible to users', async () => {
    expect((await ok('create_draft', { campaign: TEST, dry_run: true })).revision).toBeUndefined();
    expect((await ok('list_campaigns')).items).toHaveLength(1);
    const created = await ok('create_draft', { campaign: TEST });
    expect(created.checks).toEqual([]);
    expect(created.studio_url).toBe(`${mcp.url}/campaigns/headline-test`);
    expect((await mcp.studio.headlines('u-771'))['side']).toBeNull();
    expect(await rejected('create_draft', { campaign: TEST })).toContain('call update_draft');
  });

  test('3: plans the sample size and stores it in the draft', async () => {
    const { users } = await ok('get_sample_size', { campaign_id: 'headline-test', rate: 0.05, lift: 0.2 });
    expect(users).toBeGreaterThan(10_000);
    const { campaign, revision } = await getDraft('headline-test');
    const planned = { ...campaign, target_sample_size: users };
    expect((await ok('update_draft', { campaign: planned, revision, dry_run: true })).checks).toEqual([]);
    expect((await getDraft('headline-test')).revision).toBe(revision);
    await ok('update_draft', { campaign: planned, revision });
    expect((await getDraft('headline-test')).campaign.target_sample_size).toBe(users);
    // An older revision would overwrite that change.
    expect(await rejected('update_draft', { campaign, revision })).toContain('Draft was changed elsewhere');
  });

  test('4: fixes the problems that a check reports', async () => {
    const { campaign, revision } = await getDraft('headline-test');
    const wrong = { ...campaign, placements: ['sdie'] };
    const { checks } = await ok('check_campaign', { campaign: wrong });
    expect(checks[0]).toMatchObject({ severity: 'error', path: ['placements', 0] });
    expect((await ok('check_campaign', { campaign_id: 'headline-test' })).checks).toEqual([]);
    expect((await getDraft('headline-test')).revision).toBe(revision);
  });

  test('5: creates a preview link for the operator', async () => {
    const { revision } = await getDraft('headline-test');
    const page = 'https://shop.example/';
    const link = { campaign_id: 'headline-test', revision, variant_id: 'b', language: 'de', page };
    const { url, minutes } = await ok('create_preview_link', link);
    expect(url).toMatch(/^https:\/\/shop\.example\/#/);
    expect(minutes).toBe(30);
  });

  test('6: publishes only the revision that the operator has approved', async () => {
    const { revision } = await getDraft('headline-test');
    const release = { campaign_id: 'headline-test', revision, note: 'approved by Mia' };
    expect((await ok('publish_campaign', { ...release, dry_run: true })).checks).toEqual([]);
    expect((await mcp.studio.headlines('u-771'))['side']).toBeNull();
    expect(await rejected('publish_campaign', { ...release, revision: 'older' })).toContain(
      'Review it before you publish',
    );
    expect((await ok('publish_campaign', release)).release).toBeGreaterThan(0);
    expect((await mcp.studio.headlines('u-771'))['side']).toMatch(/Save 20%|Free delivery/);
  });

  test('7: explains why u-771 does not see the spring campaign', async () => {
    const { placements } = await ok('explain_placement', { user_id: 'u-771', placements: ['home'] });
    expect(placements.home).toMatchObject([{ campaign_id: 'spring', outcome: 'not_in_audience' }]);
    const other = await ok('explain_placement', { user_id: 'u-772', placements: ['home'] });
    expect(other.placements.home).toMatchObject([{ campaign_id: 'spring', outcome: 'shown' }]);
  });

  test('8: estimates how many users a wider audience would reach', async () => {
    expect((await ok('get_reach', { campaign_id: 'spring' })).users).toBe(1);
    const wider = { ...SPRING, audience: { tier: { $in: ['gold', 'silver'] } } };
    expect((await ok('get_reach', { campaign: wider })).users).toBe(2);
  });

  test('9: reads the results and the history, and ends the losing variant', async () => {
    const user = { external_user_id: 'u-771', app_id: APP_ID, app_version: '1' };
    const shown = await mcp.studio.fromPage(SYNC_PATH, { ...user, placements: ['side'] });
    const { id } = shown.body.banners.side;
    const timestamp = '2026-03-02T09:00:00Z';
    await mcp.studio.fromPage(TRACK_PATH, { ...user, events: [{ id, event_type: 'impression', timestamp }] });
    const results = await ok('get_results', { campaign_id: 'headline-test' });
    expect(results.headline.sentence).toContain('Not enough data');
    expect(results.arms.map(({ variantId }: { variantId: string }) => variantId)).toEqual(['a', 'b']);
    expect(results.studio_url).toBe(`${mcp.url}/campaigns/headline-test/results`);
    expect(results).not.toHaveProperty('days');

    const { published } = await ok('get_campaign', { campaign_id: 'headline-test' });
    const [first, second] = published.campaign.variants;
    const campaign = { ...published.campaign, variants: [first, { ...second, weight: 0 }] };
    const { revision, checks } = await ok('update_draft', { campaign, revision: null });
    expect(checks.map(({ severity }: { severity: string }) => severity)).toEqual(['warning']);
    await ok('publish_campaign', { campaign_id: 'headline-test', revision, note: 'b lost' });
    expect((await mcp.studio.headlines('u-990'))['side']).toBe('Save 20%');
    const { items } = await ok('list_history', { campaign_id: 'headline-test' });
    expect(items.map(({ note, author }: Record<string, string>) => [note, author])).toEqual([
      ['b lost', 'Ann'],
      ['approved by Mia', 'Ann'],
    ]);
  });

  test('10: stops a campaign at once', async () => {
    await ok('stop_campaign', { campaign_id: 'headline-test', note: 'legal asked for it' });
    expect((await mcp.studio.headlines('u-771'))['side']).toBeNull();
    const { items } = await ok('list_campaigns', { search: 'two head' });
    expect(items).toMatchObject([{ campaign_id: 'headline-test', status: 'stopped', has_draft: false }]);
    const viewer = await mcp.connect('Vera');
    await expect(viewer.call('stop_campaign', { campaign_id: 'spring', note: '' })).rejects.toThrow(
      'stop_campaign',
    );
  });

  test('also lists segments and integration runs', async () => {
    expect((await ok('list_segments')).items).toEqual([]);
    expect(await ok('list_data_runs')).toMatchObject({ integrations: null, studio_url: `${mcp.url}/data` });
    expect(await rejected('list_data_runs', { integration_id: 'crm' })).toContain('Integration not found');
  });
});
