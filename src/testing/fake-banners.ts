import {
  type BannerProperty,
  type EventType,
  errorBody,
  type JsonValue,
  NEVER_EXPIRES,
  type SelectorPlacement,
  type SyncRequest,
  type WireBanner,
} from '../protocol/index.ts';
import { placementsRequest, readBody, readOfApp, syncRequest } from '../protocol/schemas/index.ts';
import type { FakeResponse } from './fake-response.ts';

type Plain = string | number | boolean | Record<string, unknown>;

const isTyped = (value: unknown): value is BannerProperty =>
  typeof value === 'object' && value !== null && 'type' in value && 'value' in value;

const typed = (value: Plain | BannerProperty): BannerProperty => {
  if (isTyped(value)) return value;
  if (typeof value === 'string') return { type: 'string', value };
  if (typeof value === 'number') return { type: 'number', value };
  if (typeof value === 'boolean') return { type: 'boolean', value };
  return { type: 'jsonobject', value: value as Record<string, JsonValue> };
};

/**
 * Returns a banner of a sync response. The type of plain values is derived. Write images and dates as `{ type: 'image', value:
 * 'https://…' }`.
 */
export const buildBanner = (
  placementId: string,
  properties: Record<string, Plain | BannerProperty> = {},
  more: Partial<WireBanner> = {},
): WireBanner => ({
  id: `banner-of-${placementId}`,
  placement_id: placementId,
  is_control: false,
  is_test_send: false,
  expires_at: NEVER_EXPIRES,
  properties: Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, typed(value)])),
  ...more,
});

/** Banner of a placement: fixed, `null` for none, or a function of the request. */
export type BannerSource = WireBanner | null | ((request: SyncRequest) => WireBanner | null);

/** Handles `POST /placard/placements`. */
export const respondToPlacements = (
  body: unknown,
  placements: readonly SelectorPlacement[],
): FakeResponse => {
  const request = readBody(placementsRequest, body);
  if (typeof request === 'string') return { status: 400, body: errorBody('track', request) };
  return { status: 200, body: { placements } };
};

/** Handles `banners/sync`: the first ten distinct placements, without dismissed banners. */
export const respondToSync = (
  body: unknown,
  appIds: readonly string[] | undefined,
  sources: ReadonlyMap<string, BannerSource>,
  isDismissed: (userId: string, banner: WireBanner) => boolean,
  answered: (userId: string, bannerId: string) => void,
): FakeResponse => {
  const request = readOfApp(syncRequest, body, (appId) => appIds?.includes(appId) ?? true);
  if (typeof request === 'string') return { status: 400, body: errorBody('sync', request) };
  const banners = request.placements.map((placementId) => {
    const source = sources.get(placementId);
    const banner = (typeof source === 'function' ? source(request) : source) ?? null;
    if (!banner || isDismissed(request.external_user_id, banner)) return [placementId, null];
    answered(request.external_user_id, banner.id);
    return [placementId, banner];
  });
  return { status: 200, body: { banners: Object.fromEntries(banners) } };
};

/** Stores dismissals, which affect syncs `lagMs` later, as in a service with a queue. */
export const createDismissals = (now: () => number, lagMs: number) => {
  const seen = new Map<string, number>();
  const key = (userId: string, bannerId: string) => JSON.stringify([userId, bannerId]);
  return {
    take(userId: string, events: { id: string; event_type: EventType }[]): void {
      for (const { id, event_type } of events) {
        if (event_type === 'dismiss' && !seen.has(key(userId, id))) seen.set(key(userId, id), now());
      }
    },
    has: (userId: string, banner: WireBanner): boolean =>
      now() - (seen.get(key(userId, banner.id)) ?? Number.POSITIVE_INFINITY) >= lagMs,
    clear: (): void => seen.clear(),
  };
};
