import * as z from 'zod/mini';
import { described } from '../../../protocol/schemas/index.ts';
import { defineRoute } from '../../api/route.ts';
import { HttpError } from '../../http/http-request.ts';
import type { EventKind } from '../../results/event-counts.ts';
import { message, page, REPORT } from './report.ts';
import { seriesQuery, toSeries } from './series.ts';

/** Names per page. */
const PAGE_SIZE = 250;
/** Maximum page number. Limits the names that a page skips. */
const MAX_PAGE = 400;

const names = <Member extends 'events' | 'products'>(
  kind: EventKind,
  member: Member,
  route: { path: string; permission: 'events.list' | 'purchases.product_list'; id: string; summary: string },
) =>
  defineRoute({
    method: 'GET',
    limit: 'event_lists',
    path: route.path,
    permission: route.permission,
    query: z.object({ page: page(MAX_PAGE) }),
    operation: {
      id: route.id,
      tag: 'Events',
      summary: route.summary,
      description: '250 a page, in alphabetical order. A page past the end is empty.',
      badRequest: 'A parameter is invalid.',
    },
    response: {
      status: 200,
      schema: z.object({
        [member]: z.array(z.string()).check(described('At most 250.')),
        message,
      }),
    },
    async handler({ workspace, store, query, metrics }) {
      const found = await store.eventNames(workspace.workspaceId, {
        kind,
        limit: PAGE_SIZE,
        offset: query.page * PAGE_SIZE,
      });
      metrics.objects(member, found.length);
      return { body: { [member]: found, message: 'success' } };
    },
  });

export const eventsList = names('event', 'events', {
  path: '/events/list',
  permission: 'events.list',
  id: 'listEvents',
  summary: 'List custom events',
});

export const productList = names('purchase', 'products', {
  path: '/purchases/product_list',
  permission: 'purchases.product_list',
  id: 'listProducts',
  summary: 'List products',
});

const SERIES_DESCRIPTION =
  'One entry a day, oldest first, in the time zone of the workspace, or one a UTC hour. Counts by the earlier of time and receipt of each event.';
const seriesTime = z.string().check(described('Day, such as `2026-03-01`, or start of the hour.'));
const seriesResponse = (member: string, description: string) => ({
  status: 200,
  schema: z.object({
    data: z
      .array(z.object({ time: seriesTime, [member]: z.number().check(described(description)) }))
      .check(described('One entry a day or hour.')),
    message,
  }),
});

export const eventsDataSeries = defineRoute({
  ...REPORT,
  path: '/events/data_series',
  permission: 'events.data_series',
  query: z.object({
    event: z.string("'event' is required").check(described('Name of the event.')),
    ...seriesQuery,
  }),
  operation: {
    id: 'getEventSeries',
    tag: 'Events',
    summary: 'Get the number of a custom event over time',
    description: SERIES_DESCRIPTION,
    badRequest: 'A parameter is invalid.',
  },
  response: seriesResponse('count', 'Number of events.'),
  async handler({ workspace, store, query, now }) {
    const { fromMs, toMs, sum } = toSeries(query, workspace, now);
    const appId = query.app_id ?? null;
    const request = { kind: 'event', name: query.event, appId, fromMs, toMs } as const;
    const rows = await store.eventCounts(workspace.workspaceId, request);
    const data = sum(rows, 'quantity').map(([time, count]) => ({ time, count }));
    return { body: { data, message: 'success' } };
  },
});

const purchasesSeries = (
  measure: 'quantity' | 'revenue',
  member: 'purchase_quantity' | 'revenue',
  route: {
    path: string;
    permission: 'purchases.quantity_series' | 'purchases.revenue_series';
    id: string;
    summary: string;
    measured: string;
  },
) =>
  defineRoute({
    ...REPORT,
    path: route.path,
    permission: route.permission,
    query: z.object({
      product: z.optional(z.string().check(described('Product ID; default all products.'))),
      currency: z.optional(
        z.string().check(described('Only purchases in this currency, such as `EUR`. Placard extension.')),
      ),
      ...seriesQuery,
    }),
    operation: {
      id: route.id,
      tag: 'Events',
      summary: route.summary,
      description: SERIES_DESCRIPTION,
      badRequest:
        measure === 'revenue'
          ? 'A parameter is invalid, or purchases are in several currencies and `currency` is missing.'
          : 'A parameter is invalid.',
    },
    response: seriesResponse(member, route.measured),
    async handler({ workspace, store, query, now }) {
      const { fromMs, toMs, sum } = toSeries(query, workspace, now);
      const [name, appId] = [query.product ?? null, query.app_id ?? null];
      const request = { kind: 'purchase', name, appId, fromMs, toMs } as const;
      const found = (await store.eventCounts(workspace.workspaceId, request)).filter(
        ({ currency }) => query.currency === undefined || currency === query.currency,
      );
      const currencies = [...new Set(found.map(({ currency }) => currency))].sort();
      if (measure === 'revenue' && currencies.length > 1)
        throw new HttpError(
          400,
          `'currency' is required, because purchases are in several currencies: ${currencies.join(', ')}`,
        );
      const data = sum(found, measure).map(([time, value]) => ({ time, [member]: value }));
      return { body: { data, message: 'success' } };
    },
  });

export const quantitySeries = purchasesSeries('quantity', 'purchase_quantity', {
  path: '/purchases/quantity_series',
  permission: 'purchases.quantity_series',
  id: 'getQuantitySeries',
  summary: 'Get the number of purchased units over time',
  measured: 'Sum of `quantity`.',
});

export const revenueSeries = purchasesSeries('revenue', 'revenue', {
  path: '/purchases/revenue_series',
  permission: 'purchases.revenue_series',
  id: 'getRevenueSeries',
  summary: 'Get the revenue over time',
  measured: 'Sum of `price * quantity`, in one currency.',
});
