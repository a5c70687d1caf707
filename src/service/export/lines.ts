import type { BannerEventRow, StoredEvent } from '../profiles/events.ts';
import { type ActivityStats, type Profile, profileJson } from '../profiles/profile.ts';
import type { StoreReader } from '../store/store.ts';

const iso = (ms: number) => new Date(ms).toISOString();

const formatStats = (records: Record<string, ActivityStats>) =>
  Object.entries(records).map(([name, { first, last, count }]) => ({
    name,
    first: iso(first),
    last: iso(last),
    count,
  }));

/** Returns a user with the API's field names. Omits missing values. */
export const userLine = (profile: Profile): Record<string, unknown> => {
  const { on_clicks, subscription_groups, custom_events, purchases, ...json } = profileJson(profile);
  const devices = new Set(profile.pushTokens.map(({ device_id }) => device_id));
  const members = {
    external_id: profile.externalId ?? undefined,
    braze_id: String(profile.userId),
    ...json,
    subscription_groups:
      subscription_groups &&
      Object.entries(subscription_groups).map(([id, { state }]) => ({
        subscription_group_id: id,
        subscription_state: state,
      })),
    devices: devices.size > 0 ? [...devices].map((device_id) => ({ device_id })) : undefined,
    custom_events: custom_events && formatStats(custom_events),
    purchases: purchases && formatStats(purchases),
    created_at: iso(profile.createdAtMs),
  };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
};

export const EXPORT_KINDS = ['users', 'events', 'banner-events', 'data-points'] as const;
export type ExportKind = (typeof EXPORT_KINDS)[number];

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
  ...(event.language !== null && { language: event.language }),
  is_control: event.isControl,
  is_first_of_type: event.isFirstOfType,
  event_type: event.eventType,
  ...(event.buttonId !== null && { button_id: event.buttonId }),
  timestamp: iso(event.timeMs),
  // A device clock that is ahead must not add events to tomorrow's report.
  reported_at: iso(Math.min(event.timeMs, event.receivedAtMs)),
  received_at: iso(event.receivedAtMs),
});

async function* mapped<T>(rows: AsyncIterable<T>, line: (row: T) => unknown): AsyncIterable<unknown> {
  for await (const row of rows) yield line(row);
}

/** Returns the lines of an export: JSON objects with the API's field names. */
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
