import type { BannerEventRow } from '../profiles/banner-event.ts';
import type { StoredEvent } from '../profiles/stored-event.ts';
import type { StoreReader } from '../store/store.ts';
import { userLine } from './user-line.ts';

/** What can be exported. */
export const EXPORT_KINDS = ['users', 'events', 'banner-events', 'data-points'] as const;
/** One kind of export. */
export type ExportKind = (typeof EXPORT_KINDS)[number];

const iso = (ms: number) => new Date(ms).toISOString();

const eventLine = (event: StoredEvent) => ({
  type: event.kind,
  external_id: event.externalId,
  braze_id: String(event.userId),
  app_id: event.appId,
  ...(event.kind === 'event'
    ? { name: event.name }
    : {
        product_id: event.productId,
        currency: event.currency,
        price: event.price,
        quantity: event.quantity,
      }),
  time: iso(event.timeMs),
  ...(event.properties && { properties: event.properties }),
  received_at: iso(event.receivedAtMs),
});

const bannerEventLine = (event: BannerEventRow) => ({
  external_user_id: event.externalId,
  app_id: event.appId,
  banner_id: event.bannerId,
  campaign_id: event.campaignId,
  variant_id: event.variantId,
  placement_id: event.placementId,
  is_control: event.isControl,
  event_type: event.eventType,
  timestamp: iso(event.timeMs),
  // A clock that runs ahead must not put events into tomorrow's report.
  reported_at: iso(Math.min(event.timeMs, event.receivedAtMs)),
  received_at: iso(event.receivedAtMs),
});

async function* mapped<T>(rows: AsyncIterable<T>, line: (row: T) => unknown): AsyncIterable<unknown> {
  for await (const row of rows) yield line(row);
}

/** What an export writes, one object a line, in the wire's words. */
export const exportLines = (
  reader: StoreReader,
  kind: ExportKind,
  workspaceId: string,
): AsyncIterable<unknown> => {
  switch (kind) {
    case 'users':
      return mapped(reader.exportUsers(workspaceId), userLine);
    case 'events':
      return mapped(reader.exportEvents(workspaceId), eventLine);
    case 'banner-events':
      return mapped(reader.exportBannerEvents(workspaceId), bannerEventLine);
    case 'data-points':
      return mapped(reader.dataPoints(workspaceId), ({ day, points }) => ({ day, data_points: points }));
  }
};
