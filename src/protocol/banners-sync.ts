import type { WireBanner } from './banner.ts';
import { isRecord } from './json.ts';

export const SYNC_PATH = '/v1/device-messaging/banners/sync';

/** Common properties of request bodies of the banner endpoints. */
export interface BannerEnvelope {
  external_user_id: string;
  app_id: string;
  app_version: string;
}

/** Body of `POST /v1/device-messaging/banners/sync`. */
export interface SyncRequest extends BannerEnvelope {
  placements: string[];
  device_id?: string | undefined;
  /** `release` of the last response. If it is still current, `banners` of the response is empty. */
  release?: string | undefined;
  /** IDs of banners on the page. `stopped` of the response has those whose campaign no longer runs. */
  shown?: string[] | undefined;
}

// Parsed without a schema, because a schema library is six times the size of the client's own code for it. `schemas/` has equivalent
// schemas, and a test compares the two.

/** Returns the `banners` of a response, to be parsed with `readBanner`; `undefined` if the body is invalid. */
export const readSyncResponse = (body: unknown): Record<string, unknown> | undefined => {
  const { banners }: { banners?: unknown } = Object(body);
  return isRecord(banners) ? banners : undefined;
};

/** Converts an invalid property to one without a type, which no getter returns, so that other properties are not affected. */
const readProperty = (value: unknown): { type: string; value: unknown } =>
  isRecord(value) && typeof value['type'] === 'string'
    ? { type: value['type'], value: value['value'] ?? null }
    : { type: '', value };

/** Parses an entry of `banners`. If the entry is invalid, returns the name of the first invalid property. */
export const readBanner = (placementId: string, wire: unknown): WireBanner | string => {
  if (!isRecord(wire)) return placementId;
  const { id, placement_id, is_control = false, is_test_send = false, expires_at, properties } = wire;
  if (typeof id !== 'string' || id === '') return 'id';
  if (placement_id !== placementId) return 'placement_id';
  if (typeof is_control !== 'boolean') return 'is_control';
  if (typeof is_test_send !== 'boolean') return 'is_test_send';
  if (!Number.isFinite(expires_at)) return 'expires_at';
  if (properties !== null && !isRecord(properties)) return 'properties';
  return {
    id,
    placement_id: placementId,
    is_control,
    is_test_send,
    expires_at: expires_at as number,
    // Does not assign properties by name, so that a property called `__proto__` is kept.
    properties:
      properties &&
      Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, readProperty(value)])),
  };
};
