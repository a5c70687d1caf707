// Requests and record selectors of Airbyte's Braze source (manifest version 5.16.0 and components.py of
// airbyte-integrations/connectors/source-braze in airbytehq/airbyte, Elastic License 2.0), as a table of our own.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../../src/service/index.ts';
import { aCampaign, aVariant, aWorkspace } from '../helpers/a-workspace.ts';
import { aBannerEvent, recordBannerEvents } from '../helpers/banner-events.ts';
import { asServer, type RunningService, runService, STORES } from '../helpers/running-service.ts';

interface Stream {
  path: string;
  /** Member of the response with the records; the response itself if absent. */
  records?: string;
  query?: Record<string, string>;
  /** Pages until one has fewer than two records. */
  isPaged?: true;
  /** Repeats the request for each record of another stream. */
  parent?: { stream: string; member: string; parameter: string };
  /** Days per request. Sends `ending_at` and `length`. */
  stepDays?: number;
}

const START_DATE = '2025-10-01';
const EDITED = { 'last_edit.time[gt]': START_DATE };
const CAMPAIGN = { stream: 'campaigns', member: 'id', parameter: 'campaign_id' };
const CANVAS = { stream: 'canvases', member: 'id', parameter: 'canvas_id' };
const SEGMENT = { stream: 'segments', member: 'id', parameter: 'segment_id' };
const CARD = { stream: 'cards', member: 'id', parameter: 'card_id' };
const EVENT = { stream: 'events', member: 'event_name', parameter: 'event' };
const BREAKDOWN = { include_variant_breakdown: 'true', include_step_breakdown: 'true' };

const STREAMS: Record<string, Stream> = {
  campaigns: { path: '/campaigns/list', records: 'campaigns', query: EDITED, isPaged: true },
  campaigns_analytics: { path: '/campaigns/data_series', records: 'data', parent: CAMPAIGN, stepDays: 100 },
  campaigns_details: { path: '/campaigns/details', parent: CAMPAIGN },
  canvases: { path: '/canvas/list', records: 'canvases', query: EDITED, isPaged: true },
  canvases_analytics: {
    path: '/canvas/data_series',
    records: 'data',
    query: BREAKDOWN,
    parent: CANVAS,
    stepDays: 14,
  },
  canvases_details: { path: '/canvas/details', parent: CANVAS },
  events: { path: '/events/list', records: 'events', isPaged: true },
  events_analytics: {
    path: '/events/data_series',
    records: 'data',
    query: { unit: 'day' },
    parent: EVENT,
    stepDays: 100,
  },
  kpi_daily_new_users: { path: '/kpi/new_users/data_series', records: 'data', stepDays: 100 },
  kpi_daily_active_users: { path: '/kpi/dau/data_series', records: 'data', stepDays: 100 },
  kpi_daily_app_uninstalls: { path: '/kpi/uninstalls/data_series', records: 'data', stepDays: 100 },
  cards: { path: '/feed/list', records: 'cards', query: EDITED, isPaged: true },
  cards_analytics: { path: '/feed/data_series', records: 'data', parent: CARD, stepDays: 100 },
  segments: { path: '/segments/list', records: 'segments', query: EDITED, isPaged: true },
  segments_analytics: { path: '/segments/data_series', records: 'data', parent: SEGMENT, stepDays: 100 },
  segments_details: { path: '/segments/details', parent: SEGMENT },
};

const DAY_MS = 24 * 3_600_000;
const PAGE_SIZE = 2;
const getDate = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Slices of the cursor: each ends a day before the next begins, and `length` counts that day except in the first. */
const getSlices = (days: number, untilMs: number): Record<string, string>[] => {
  const slices: Record<string, string>[] = [];
  for (let from = Date.parse(START_DATE); from <= untilMs; from += days * DAY_MS) {
    const to = Math.min(from + (days - 1) * DAY_MS, untilMs);
    if (to <= from) continue;
    const length = (to - from) / DAY_MS + (slices.length > 0 ? 1 : 0);
    slices.push({ ending_at: getDate(to), length: String(length) });
  }
  return slices;
};

type Row = Record<string, unknown>;

/** Reads every stream as the connector does. */
const readStreams = async (service: RunningService): Promise<Map<string, Row[]>> => {
  const read = new Map<string, Row[]>();
  const today = Date.parse(getDate(service.clock.now));

  const ask = async ({ path, records }: Stream, query: Record<string, string>): Promise<Row[]> => {
    const { status, body } = await service.call('GET', `${path}?${new URLSearchParams(query)}`, asServer);
    expect({ path, query, status }).toEqual({ path, query, status: 200 });
    if (records === undefined) return [body];
    const found: unknown[] = body[records];
    return found.map((each) => (typeof each === 'string' ? { event_name: each } : (each as Row)));
  };

  for (const [name, stream] of Object.entries(STREAMS)) {
    const { query = {}, isPaged, parent, stepDays } = stream;
    const parents = parent
      ? read.get(parent.stream)!.map((row) => ({ [parent.parameter]: String(row[parent.member]) }))
      : [{}];
    const rows: Row[] = [];
    for (const of of parents)
      for (const slice of stepDays === undefined ? [{}] : getSlices(stepDays, today))
        for (let page = 0; ; page += 1) {
          const found = await ask(stream, {
            ...query,
            ...of,
            ...slice,
            ...(isPaged && page > 0 && { page: String(page) }),
          });
          rows.push(...found.map((row) => ({ ...row, ...of })));
          if (!isPaged || found.length < PAGE_SIZE) break;
        }
    read.set(name, rows);
  }
  return read;
};

describe.each(STORES)('Airbyte’s Braze source against a service on $name', ({ address }) => {
  let service: RunningService;
  let read: Map<string, Row[]>;
  beforeAll(async () => {
    const campaigns = Array.from({ length: 3 }, (_, index) =>
      aCampaign({ campaign_id: `c-${index}`, variants: [aVariant({ variant_id: 'a', name: 'Red' })] }),
    );
    const segments = [{ segment_id: 'gold', name: 'Gold', audience: { tier: 'gold' } }];
    service = await runService([aWorkspace({ campaigns, segments })], {
      store: await openStore(await address()),
    });
    const timeMs = service.clock.now;
    await recordBannerEvents(
      service.store,
      'u-1',
      [
        aBannerEvent({ campaignId: 'c-0', timeMs }),
        aBannerEvent({ campaignId: 'c-0', timeMs, eventType: 'click' }),
      ],
      'test',
    );
    const event = { external_id: 'u-1', name: 'signed_up' };
    const events = [
      { ...event, time: '2025-10-02T10:00:00Z' },
      { ...event, time: '2026-01-08T23:59:59Z' },
      { ...event, time: '2026-01-09T00:00:00Z' },
      { ...event, time: '2026-03-01T08:00:00Z' },
    ];
    expect((await service.call('POST', '/users/track', { ...asServer, body: { events } })).status).toBe(201);
    read = await readStreams(service);
  });
  afterAll(() => service.stop());

  test('reads every stream', () => {
    const counts = Object.fromEntries([...read].map(([name, rows]) => [name, rows.length]));
    const days = (Date.parse('2026-03-01') - Date.parse('2025-10-02')) / DAY_MS + 1;
    expect(counts).toEqual({
      campaigns: 3,
      campaigns_analytics: 3 * days,
      campaigns_details: 3,
      canvases: 0,
      canvases_analytics: 0,
      canvases_details: 0,
      events: 1,
      events_analytics: days,
      kpi_daily_new_users: 0,
      kpi_daily_active_users: 0,
      kpi_daily_app_uninstalls: 0,
      cards: 0,
      cards_analytics: 0,
      segments: 1,
      segments_analytics: 0,
      segments_details: 1,
    });
  });

  test('receives each day once, with its counts', () => {
    const series = read.get('events_analytics')!;
    expect(new Set(series.map(({ time }) => time)).size).toBe(series.length);
    expect(series.filter(({ count }) => count !== 0)).toEqual(
      ['2025-10-02', '2026-01-08', '2026-01-09', '2026-03-01'].map((time) => ({
        time,
        count: 1,
        event: 'signed_up',
      })),
    );
    const seen = read
      .get('campaigns_analytics')!
      .filter(({ unique_recipients: recipients }) => recipients !== 0);
    expect(seen).toEqual([
      {
        campaign_id: 'c-0',
        time: '2026-03-01',
        unique_recipients: 1,
        messages: { banners: [expect.objectContaining({ total_impressions: 1, total_clicks: 1 })] },
      },
    ]);
  });

  test('receives each time as a date or null, as its schema requires', () => {
    const times = [
      ...read.get('campaigns')!.map(({ last_edited: edited }) => edited),
      ...read
        .get('campaigns_details')!
        .flatMap((row) => [row['created_at'], row['updated_at'], row['first_sent'], row['last_sent']]),
    ];
    expect(times.filter((time) => time !== null && Number.isNaN(Date.parse(String(time))))).toEqual([]);
  });
});
