import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aCampaign, aVariant, aWorkspace, CLIENT_KEY } from '../../helpers/a-workspace.ts';
import { aBannerEvent, recordBannerEvents } from '../../helpers/banner-events.ts';
import { asServer, type RunningService, runService } from '../../helpers/running-service.ts';

const campaigns = [
  aCampaign({
    campaign_id: 'campaign',
    name: 'Spring sale',
    tags: ['sale'],
    control_percentage: 10,
    conversions: [{ event: 'signed_up', within_hours: 1 }],
    variants: [aVariant({ variant_id: 'a', name: 'Red' }), aVariant({ variant_id: 'b' })],
  }),
  aCampaign({ campaign_id: 'over', status: 'stopped' }),
  ...Array.from({ length: 100 }, (_, index) => aCampaign({ campaign_id: `c-${index}`, status: 'draft' })),
];

let service: RunningService;
beforeAll(async () => {
  const segments = [{ segment_id: 'gold', name: 'Gold', audience: { tier: 'gold' } }];
  service = await runService([aWorkspace({ campaigns, segments })]);
  const day = 24 * 3_600_000;
  const timeMs = service.clock.now;
  const record = (user: string, ...changes: Parameters<typeof aBannerEvent>[0][]) =>
    recordBannerEvents(service.store, user, changes.map(aBannerEvent), 'test');
  await record(
    'u-1',
    { timeMs },
    { timeMs: timeMs + 1, receivedAtMs: timeMs + 1 },
    { eventType: 'click', timeMs },
  );
  await record('u-2', { timeMs: timeMs - day, variantId: 'b', bannerId: 'bnr_2' });
  await record('u-3', { timeMs, isControl: true, variantId: null, bannerId: 'bnr_3' });
});
afterAll(() => service.stop());
const get = (path: string) => service.call('GET', path, asServer);

describe('GET /campaigns/list', () => {
  test('returns 100 a page, and nothing past the end', async () => {
    const { status, body } = await get('/campaigns/list');
    expect(status).toBe(200);
    expect(body.campaigns).toHaveLength(100);
    expect(body.campaigns[0]).toEqual({
      id: 'campaign',
      last_edited: '',
      name: 'Spring sale',
      is_api_campaign: false,
      tags: ['sale'],
    });
    expect((await get('/campaigns/list?page=1&include_archived=true')).body.campaigns).toHaveLength(2);
    expect((await get('/campaigns/list?page=2')).body).toEqual({ campaigns: [], message: 'success' });
    const newest = await get('/campaigns/list?sort_direction=desc&last_edit.time[gt]=2026-01-01T00:00:00');
    expect(newest.body.campaigns[0].id).toBe('c-99');
  });

  test.each(['page=-1', 'page=x', 'sort_direction=up', 'last_edit.time[gt]=soon'])(
    'rejects %s',
    async (query) => expect((await get(`/campaigns/list?${query}`)).status).toBe(400),
  );

  test('is for server keys', async () => {
    expect((await service.call('GET', '/campaigns/list', { key: CLIENT_KEY })).status).toBe(403);
  });
});

test('GET /campaigns/details returns variants, control group and goals', async () => {
  const { status, body } = await get('/campaigns/details?campaign_id=campaign');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    name: 'Spring sale',
    enabled: true,
    draft: false,
    archived: false,
    channels: ['banner'],
    messages: {
      a: { channel: 'banner', name: 'Red' },
      b: { channel: 'banner', name: 'b' },
      control: { channel: 'banner', type: 'control' },
    },
    conversion_behaviors: [{ type: 'Performs Custom Event', window: 3_600, custom_event_name: 'signed_up' }],
  });
  expect((await get('/campaigns/details?campaign_id=none')).status).toBe(400);
});

describe('GET /campaigns/data_series', () => {
  test('returns a day an entry, oldest first, with the counts of each variant', async () => {
    const { status, body } = await get('/campaigns/data_series?campaign_id=campaign&length=2');
    expect(status).toBe(200);
    const zero = { total_dismissals: 0, unique_dismissals: 0 };
    const none = { total_impressions: 0, unique_impressions: 0, total_clicks: 0, unique_clicks: 0, ...zero };
    const red = { variation_name: 'Red', variation_api_id: 'a' };
    const b = { variation_name: 'b', variation_api_id: 'b' };
    const one = { ...none, total_impressions: 1, unique_impressions: 1 };
    expect(body.data).toEqual([
      {
        time: '2026-02-28',
        unique_recipients: 1,
        messages: {
          banners: [
            { ...red, ...none, unique_recipients: 0 },
            { ...b, ...one, unique_recipients: 1 },
            { variation_name: 'Control', enrolled: 0 },
          ],
        },
      },
      {
        time: '2026-03-01',
        unique_recipients: 1,
        messages: {
          banners: [
            { ...red, ...one, total_impressions: 2, total_clicks: 1, unique_clicks: 1, unique_recipients: 1 },
            { ...b, ...none, unique_recipients: 0 },
            { variation_name: 'Control', enrolled: 1 },
          ],
        },
      },
    ]);
  });

  test.each(['length=0', 'length=101', 'length=7&ending_at=soon', ''])('rejects "%s"', async (query) => {
    expect((await get(`/campaigns/data_series?campaign_id=campaign&${query}`)).status).toBe(400);
  });
});

test('GET /segments/list returns segments by name', async () => {
  expect((await get('/segments/list')).body).toEqual({
    segments: [{ id: 'gold', name: 'Gold', analytics_tracking_enabled: false, tags: [] }],
    message: 'success',
  });
});
