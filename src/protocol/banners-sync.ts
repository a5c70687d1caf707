import type { WireBanner } from './banner.ts';
import { isRecord } from './json.ts';

export const SYNC_PATH = '/v1/device-messaging/banners/sync';

/** What the bodies of both banner endpoints begin with. */
export interface BannerEnvelope {
  external_user_id: string;
  app_id: string;
  app_version: string;
}

/** Body of `POST /v1/device-messaging/banners/sync`. */
export interface SyncRequest extends BannerEnvelope {
  placements: string[];
  device_id?: string | undefined;
}

/** 200: a requested key that is missing was not answered, `null` means that no banner is for this user. */
export interface SyncAnswer {
  banners: Record<string, WireBanner | null>;
}

// Read by hand: a browser reads only this answer and that of `banners/track`, and a schema library weighs six times as
// much as the client's own part of it. `schemas/` has the same as schemas, and a test compares both.

/** The answer's `banners`, each to be read by `readBanner`; `undefined` where the body is no such answer. */
export const readSyncAnswer = (body: unknown): Record<string, unknown> | undefined => {
  const { banners } = Object(body) as { banners?: unknown };
  return isRecord(banners) ? banners : undefined;
};

/** A member that is no property becomes one without a type, which no getter reads: it costs no other property. */
const readProperty = (value: unknown): { type: string; value: unknown } =>
  isRecord(value) && typeof value['type'] === 'string'
    ? { type: value['type'], value: value['value'] ?? null }
    : { type: '', value };

/** One member of the answer's `banners`, or the name of the first member of it that is wrong. */
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
    // Not by assignment: a property called `__proto__` must stay one.
    properties:
      properties &&
      Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, readProperty(value)])),
  };
};
