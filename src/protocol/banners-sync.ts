import type { WireBanner } from './banner.ts';

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
