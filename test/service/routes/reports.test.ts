import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../../../src/service/index.ts';
import { APP_ID, aCampaign, aVariant, aWorkspace, CLIENT_KEY } from '../../helpers/a-workspace.ts';
import { aBannerEvent, recordBannerEvents } from '../../helpers/banner-events.ts';
import { asServer, type RunningService, runService, STORES } from '../../helpers/running-service.ts';

const campaigns = [
  aCampaign({
    campaign_id: 'campaign',
    name: 'Spring sale',
    tags: ['sale'],
    control_percentage: 10,
    conversions: [
      { event: 'signed_up', within_hours: 1 },
      { event: 'left', within_hours: 48 },
    ],
    variants: [aVariant({ variant_id: 'a', name: 'Red' }), aVariant({ variant_id: 'b' })],
  }),
  aCampaign({ campaign_id: 'over', status: 'stopped' }),
  ...Array.from({ length: 100 }, (_, index) => aCampaign({ campaign_id: `c-${index}`, status: 'draft' })),
];
const segments = [{ segment_id: 'gold', name: 'Gold', audience: { tier: 'gold' } }];
/** Its days start at 18:15 UTC. */
const studio = { time_zone: 'Asia/Kathmandu' };

describe.each(STORES)('reports on $name', ({ address }) => {
  let service: RunningService;
  const get = (path: string) => service.call('GET', path, asServer);
  beforeAll(async () => {
    service = await runService([aWorkspace({ campaigns, segments, studio })], {
      store: await openStore(await address()),
    });
    const day = 24 * 3_600_000;
    const timeMs = service.clock.now;
    const record = (user: string, ...changes: Parameters<typeof aBannerEvent>[0][]) =>
      recordBannerEvents(service.store, user, changes.map(aBannerEvent), 'test');
    await record(
      'u-1',
      { timeMs },
      { timeMs: timeMs + 1, receivedAtMs: timeMs + 1 },
      { eventType: 'click', timeMs, buttonId: 'details' },
    );
    await record('u-2', { timeMs: timeMs - day, day: '2026-02-28', variantId: 'b', bannerId: 'bnr_2' });
    await record('u-3', { timeMs, isControl: true, variantId: null, bannerId: 'bnr_3' });
    const event = (time: string, more = {}) => ({ external_id: 'u-1', name: 'signed_up', time, ...more });
    const purchase = (time: string, more = {}) => ({
      external_id: 'u-1',
      product_id: 'cup',
      currency: 'EUR',
      price: 2.5,
      time,
      ...more,
    });
    const { status } = await service.call('POST', '/users/track', {
      ...asServer,
      body: {
        events: [
          event('2026-02-27T18:14:00Z'),
          event('2026-02-27T18:15:00Z', { app_id: APP_ID }),
          event('2026-02-28T18:14:59Z'),
          event('2026-02-28T18:15:00Z'),
          event('2026-02-28T18:15:00Z', { name: 'left' }),
          event('2026-02-28T18:14:59Z', { name: 'left', external_id: 'u-2' }),
          event('2026-02-28T18:15:00Z', { name: 'left', external_id: 'u-2' }),
        ],
        purchases: [
          purchase('2026-02-28T08:00:00Z', { quantity: 3 }),
          purchase('2026-03-01T08:10:00Z'),
          purchase('2026-03-01T08:20:00Z', { product_id: 'pot', price: 4 }),
          purchase('2026-03-01T08:30:00Z', { product_id: 'jug', currency: 'PLN', price: 10 }),
        ],
      },
    });
    expect(status).toBe(201);
  });
  afterAll(() => service.stop());

  describe('GET /campaigns/list', () => {
    test('returns 100 campaigns per page, and an empty page past the end', async () => {
      const { status, body } = await get('/campaigns/list');
      expect(status).toBe(200);
      expect(body.campaigns).toHaveLength(100);
      expect(body.campaigns[0]).toEqual({
        id: 'campaign',
        last_edited: null,
        name: 'Spring sale',
        is_api_campaign: false,
        tags: ['sale'],
      });
      expect((await get('/campaigns/list?page=1&include_archived=true')).body.campaigns).toHaveLength(2);
      expect((await get('/campaigns/list?page=2')).body).toEqual({ campaigns: [], message: 'success' });
      const newest = await get('/campaigns/list?sort_direction=desc&last_edit.time[gt]=2026-01-01T00:00:00');
      expect(newest.body.campaigns[0].id).toBe('c-99');
    });

    test.each(['page=-1', 'page=x', 'sort_direction=up', 'last_edit.time[gt]=soon', 'last_edit.time[gt]=1'])(
      'rejects %s',
      async (query) => expect((await get(`/campaigns/list?${query}`)).status).toBe(400),
    );

    test('requires a server key', async () => {
      expect((await service.call('GET', '/campaigns/list', { key: CLIENT_KEY })).status).toBe(403);
    });
  });

  test('GET /campaigns/details returns variants, control group and goals', async () => {
    const { status, body } = await get('/campaigns/details?campaign_id=campaign');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      created_at: null,
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
      conversion_behaviors: [
        { type: 'Performs Custom Event', window: 3_600, custom_event_name: 'signed_up' },
        { type: 'Performs Custom Event', window: 172_800, custom_event_name: 'left' },
      ],
    });
    expect((await get('/campaigns/details?campaign_id=none')).status).toBe(400);
  });

  describe('GET /campaigns/data_series', () => {
    test('returns an entry per day, oldest first, with counts and first conversions of each variant', async () => {
      const { status, body } = await get('/campaigns/data_series?campaign_id=campaign&length=2');
      expect(status).toBe(200);
      const zero = { total_dismissals: 0, unique_dismissals: 0 };
      const none = {
        total_impressions: 0,
        unique_impressions: 0,
        total_clicks: 0,
        unique_clicks: 0,
        ...zero,
      };
      const red = { variation_name: 'Red', variation_api_id: 'a' };
      const b = { variation_name: 'b', variation_api_id: 'b' };
      const unconverted = { conversions: 0, conversions1: 0 };
      const one = { ...none, total_impressions: 1, unique_impressions: 1 };
      expect(body.data).toEqual([
        {
          time: '2026-02-28',
          unique_recipients: 1,
          conversions: 0,
          conversions1: 1,
          messages: {
            banners: [
              { ...red, ...none, ...unconverted, unique_recipients: 0 },
              { ...b, ...one, unique_recipients: 1, conversions: 0, conversions1: 1 },
              { variation_name: 'Control', ...unconverted, enrolled: 0 },
            ],
          },
        },
        {
          time: '2026-03-01',
          unique_recipients: 1,
          ...unconverted,
          messages: {
            banners: [
              {
                ...red,
                ...one,
                ...unconverted,
                total_impressions: 2,
                total_clicks: 1,
                unique_clicks: 1,
                unique_recipients: 1,
                buttons: [{ button_id: 'details', total_clicks: 1, unique_clicks: 1 }],
              },
              { ...b, ...none, ...unconverted, unique_recipients: 0 },
              { variation_name: 'Control', ...unconverted, enrolled: 1 },
            ],
          },
        },
      ]);
    });

    test.each(['length=0', 'length=101', 'length=7&ending_at=soon', 'length=7&ending_at=0000-01-01', ''])(
      'rejects "%s"',
      async (query) => {
        expect((await get(`/campaigns/data_series?campaign_id=campaign&${query}`)).status).toBe(400);
      },
    );
  });

  test('GET /segments/list returns segments by name', async () => {
    expect((await get('/segments/list')).body).toEqual({
      segments: [{ id: 'gold', name: 'Gold', analytics_tracking_enabled: false, tags: [] }],
      message: 'success',
    });
  });

  test('GET /segments/details returns the filter', async () => {
    const { status, body } = await get('/segments/details?segment_id=gold');
    expect(status).toBe(200);
    expect(body).toMatchObject({ name: 'Gold', description: '{"tier":"gold"}', message: 'success' });
    expect((await get('/segments/details?segment_id=none')).status).toBe(400);
  });

  test('GET /events/list and /purchases/product_list return names in order', async () => {
    expect((await get('/events/list')).body).toEqual({ events: ['left', 'signed_up'], message: 'success' });
    expect((await get('/events/list?page=1')).body).toEqual({ events: [], message: 'success' });
    expect((await get('/events/list?page=401')).status).toBe(400);
    expect((await get('/purchases/product_list')).body.products).toEqual(['cup', 'jug', 'pot']);
  });

  describe('GET /events/data_series', () => {
    const series = async (query: string) => (await get(`/events/data_series?event=signed_up&${query}`)).body;

    test('counts days in the time zone of the workspace', async () => {
      const data = [
        { time: '2026-02-27', count: 1 },
        { time: '2026-02-28', count: 2 },
        { time: '2026-03-01', count: 1 },
      ];
      expect(await series('length=3')).toEqual({ data, message: 'success' });
      // A date is a day of that zone, and the time is still in it.
      expect((await series('length=2&ending_at=2026-02-28')).data).toEqual(data.slice(0, 2));
      expect((await series('length=2&ending_at=2026-02-28T18:14:59Z')).data).toEqual(data.slice(0, 2));
      expect((await series('length=1&ending_at=2026-02-28T18:15:00Z')).data).toEqual(data.slice(2));
    });

    test('counts by hour', async () => {
      const data = [
        { time: '2026-02-27T17:00:00.000Z', count: 0 },
        { time: '2026-02-27T18:00:00.000Z', count: 2 },
      ];
      expect((await series('unit=hour&length=2&ending_at=2026-02-27T18:59:00Z')).data).toEqual(data);
      // The last hour of the day contains the first quarter of the next one.
      const [last] = (await series('unit=hour&length=1&ending_at=2026-02-27')).data;
      expect(last).toEqual(data[1]);
    });

    test('counts the events of one app', async () => {
      const { data } = await series(`length=2&app_id=${APP_ID}`);
      expect(data.map(({ count }: { count: number }) => count)).toEqual([1, 0]);
    });

    test.each(['length=0', 'length=1&unit=week', 'length=1&app_id=none', 'length=1&ending_at=1969-12-31'])(
      'rejects %s',
      async (query) => {
        expect((await get(`/events/data_series?event=signed_up&${query}`)).status).toBe(400);
      },
    );
  });

  describe('GET /purchases/quantity_series and /purchases/revenue_series', () => {
    test('add up the units and the revenue of one or all products', async () => {
      const quantity = async (query: string) =>
        (await get(`/purchases/quantity_series?length=2${query}`)).body.data;
      expect(await quantity('')).toEqual([
        { time: '2026-02-28', purchase_quantity: 3 },
        { time: '2026-03-01', purchase_quantity: 3 },
      ]);
      expect(await quantity('&product=cup')).toEqual([
        { time: '2026-02-28', purchase_quantity: 3 },
        { time: '2026-03-01', purchase_quantity: 1 },
      ]);
      expect((await get('/purchases/revenue_series?length=2&product=cup')).body).toEqual({
        data: [
          { time: '2026-02-28', revenue: 7.5 },
          { time: '2026-03-01', revenue: 2.5 },
        ],
        message: 'success',
      });
    });

    test('do not add up different currencies', async () => {
      const { status, body } = await get('/purchases/revenue_series?length=1');
      expect({ status, message: body.message }).toEqual({
        status: 400,
        message: "'currency' is required, because purchases are in several currencies: EUR, PLN",
      });
      const euros = await get('/purchases/revenue_series?length=1&currency=EUR');
      expect(euros.body.data).toEqual([{ time: '2026-03-01', revenue: 6.5 }]);
    });
  });

  test.each([
    '/segments/data_series?segment_id=gold&length=7',
    '/kpi/dau/data_series?length=7',
    '/kpi/mau/data_series?length=7',
    '/kpi/new_users/data_series?length=7',
    '/kpi/uninstalls/data_series?length=7',
    '/sessions/data_series?length=7',
  ])('GET %s returns an empty series', async (path) => {
    const { status, body } = await get(path);
    expect({ status, body }).toEqual({ status: 200, body: { data: [], message: 'success' } });
  });
});
