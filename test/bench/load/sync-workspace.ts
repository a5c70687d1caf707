// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import { benchToken, SIGNED_APP } from './sync-tokens.ts';

const many = { requests: 10_000_000, window_seconds: 1 };
const CAMPAIGNS = 100;
const PLACEMENTS = ['home_hero', 'sidebar_promo', 'checkout_strip'];

const text = (value: string) => ({ type: 'string', value });

/** Audiences by attribute, count, subscription, time since an event, and combinations. */
const getAudience = (index: number): Record<string, unknown> | null => {
  const kinds = [
    { 'custom_attributes.segment': `segment-${index}` },
    { 'custom_attributes.visits': { $gte: 1_000 + index } },
    { country: { $in: ['DE', 'FR', 'IT'] }, 'custom_attributes.tier': 'platinum' },
    { 'events.checkout_started.last_days_ago': { $lte: 7 } },
    { $or: [{ 'purchases.sku-9.count': { $gte: 2 } }, { 'custom_attributes.tier': 'platinum' }] },
  ];
  return index < CAMPAIGNS - PLACEMENTS.length ? kinds[index % kinds.length]! : null;
};

/** A hundred active campaigns on three placements. Three match all users, most match none. */
export const SYNC_WORKSPACE = {
  workspace_id: 'bench',
  apps: [{ app_id: 'bench-app', platform: 'web' }, SIGNED_APP],
  api_keys: [{ type: 'client', key: 'bench-client-key', permissions: ['banners.sync'] }],
  limits: { banners_sync: { per_user: many } },
  banner_poll_seconds: 5,
  campaigns: Array.from({ length: CAMPAIGNS }, (_, index) => ({
    campaign_id: `campaign-${index}`,
    status: 'active',
    placements: getAudience(index) ? PLACEMENTS : [PLACEMENTS[index % PLACEMENTS.length]],
    priority: getAudience(index) ? 'high' : 'low',
    audience: getAudience(index),
    control_percentage: 5,
    variants: ['a', 'b'].map((variant_id) => ({
      variant_id,
      cache_ttl_seconds: 3_600,
      properties: {
        headline: text("Hi {{${first_name} | default: 'there'}}, this is for you"),
        body: text('Forty new pieces for the table, thrown and glazed by hand.'),
        button_text: text('See the collection'),
        link: text('/collection'),
        image: { type: 'image', value: '/images/hero.svg' },
        dismissible: { type: 'boolean', value: true },
      },
    })),
  })),
};

const body = (user: number, more: Record<string, unknown> = {}) =>
  JSON.stringify({
    external_user_id: userId(user),
    app_id: 'bench-app',
    app_version: '4.2.0',
    placements: PLACEMENTS,
    ...more,
  });

const userId = (user: number) => `user-${String(user).padStart(8, '0')}`;

const request = (content: string): Buffer => {
  const head = [
    'POST /v1/device-messaging/banners/sync HTTP/1.1',
    'Host: 127.0.0.1',
    'Authorization: Bearer bench-client-key',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(content)}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${content}`);
};

/** Returns a request as bytes. With `release`, it checks for changed campaigns. */
export const syncRequest = (user: number, release?: string): Buffer => request(body(user, { release }));

/** The same with the user token of `serial`. */
export const signedSyncRequest = (user: number, serial: number): Buffer =>
  request(body(user, { app_id: SIGNED_APP.app_id, user_token: benchToken(userId(user), serial) }));
