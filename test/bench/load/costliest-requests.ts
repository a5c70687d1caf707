import { APP_ID } from '../../helpers/a-workspace.ts';

export interface CostlyRequest {
  what: string;
  role: 'client' | 'server' | 'view';
  path: string;
  method?: 'GET' | 'POST';
  body?: unknown;
  aimMs: number;
}

const envelope = { external_user_id: 'u-1', app_id: APP_ID, app_version: '1' };
const list = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
/** Objects of which each has members of its own: a parser makes a shape for each. */
const shapes = (count: number) =>
  Object.fromEntries(list(count, (at) => [`a${at.toString(36)}`, { [`b${at.toString(36)}`]: at }]));

/** By role, the most expensive that anybody has found of each endpoint. To be added to. */
export const costliestRequests = (bannerId: string): CostlyRequest[] => {
  const client = { role: 'client', aimMs: 50 } as const;
  const server = { role: 'server', aimMs: 200 } as const;
  const view = { role: 'view', aimMs: 50 } as const;
  const sync = '/v1/device-messaging/banners/sync';
  const track = '/v1/device-messaging/banners/track';
  const time = '2026-03-01T09:15:00.000Z';
  const deep = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
  const person = { persona: 'Gold' };
  const campaign = {
    campaign_id: 'costly',
    status: 'active',
    placements: ['home'],
    variants: list(8, (at) => ({
      variant_id: `v${at}`,
      weight: 10,
      properties: Object.fromEntries(
        list(20, (name) => [
          `p${name}`,
          { type: 'string', value: '{{ "a" | append: "b" | upcase }} '.repeat(8) },
        ]),
      ),
    })),
  };
  return [
    {
      ...client,
      what: 'sync of ten unknown placements',
      path: sync,
      body: { ...envelope, placements: list(10, (at) => `home_her${at}${'o'.repeat(50)}`) },
    },
    {
      ...client,
      what: 'sync, 64 KB of shapes',
      path: sync,
      body: { ...envelope, placements: ['home'], x: shapes(480) },
    },
    {
      ...client,
      what: 'sync, as many placements as fit',
      path: sync,
      body: { ...envelope, placements: list(950, (at) => `p${at}`.padEnd(60, 'x')) },
    },
    {
      ...client,
      what: 'track, 1,000 sound events',
      path: track,
      body: {
        ...envelope,
        events: list(1_000, (at) => ({
          id: bannerId,
          event_type: 'click',
          timestamp: new Date(Date.parse(time) + at).toISOString(),
        })),
      },
    },
    {
      ...client,
      what: 'track, 1,000 forged IDs',
      path: track,
      body: {
        ...envelope,
        events: list(1_000, (at) => ({
          id: `${bannerId.slice(0, -12)}${String(at).padStart(4, '0')}abcdefgh`,
          event_type: 'click',
          timestamp: time,
        })),
      },
    },
    {
      ...client,
      what: 'track, 10,000 values',
      path: track,
      body: { ...envelope, events: list(1_000, () => null), x: shapes(4_400) },
    },
    {
      ...server,
      what: '/users/track, 40,000 values of as many shapes',
      path: '/users/track',
      body: { attributes: [{ external_id: 'u-1', ...shapes(19_500) }] },
    },
    {
      ...server,
      what: '/users/track, 4 MB of text',
      path: '/users/track',
      body: {
        attributes: list(75, (at) => ({
          external_id: `u-${at}`,
          ...Object.fromEntries(list(200, (name) => [`a${name}`, 'ü'.repeat(125)])),
        })),
      },
    },
    {
      ...server,
      what: '/users/track, 75 lists of 500',
      path: '/users/track',
      body: {
        attributes: list(75, () => ({ external_id: 'u-1', list: list(500, (n) => `${n}`.padEnd(90, 'x')) })),
      },
    },
    {
      ...server,
      what: '/users/track, 75 events of 256 properties',
      path: '/users/track',
      body: {
        events: list(75, () => ({
          external_id: 'u-1',
          name: 'e',
          time,
          properties: Object.fromEntries(list(256, (name) => [`p${name}`, 'x'.repeat(150)])),
        })),
      },
    },
    {
      ...server,
      what: '/users/track, nested 4,000 deep',
      path: '/users/track',
      body: { attributes: [{ external_id: 'u-1', x: deep(4_000) }], y: deep(4_000) },
    },
    {
      ...server,
      what: '/users/track/bulk, 1,000 objects, each at fault 15 times',
      path: '/users/track/bulk',
      body: {
        attributes: list(1_000, (at) => ({
          external_id: `u-${at}`,
          ...Object.fromEntries(list(15, (name) => [`a${name}`, { inc: 'x' }])),
        })),
      },
    },
    {
      ...server,
      what: '/users/track/bulk, 1,000 new users',
      path: '/users/track/bulk',
      body: {
        attributes: list(1_000, (at) => ({
          external_id: `n-${at}`,
          email: `n-${at}@example.org`,
          a: 1,
          b: 'x'.repeat(200),
          c: { d: [1, 2, { e: 'f' }] },
        })),
      },
    },
    {
      ...server,
      what: '/users/identify, 50 entries',
      path: '/users/identify',
      body: {
        aliases_to_identify: list(50, (at) => ({
          external_id: `i-${at}`,
          user_alias: { alias_name: `a${at}`, alias_label: 'l' },
        })),
      },
    },
    {
      ...server,
      what: '/users/merge, 10,000 values',
      path: '/users/merge',
      body: {
        merge_updates: list(50, (at) => ({
          identifier_to_merge: { external_id: `n-${at}` },
          identifier_to_keep: { external_id: `n-${at + 50}` },
        })),
        x: shapes(4_800),
      },
    },
    {
      ...server,
      what: '/users/export/ids of 50 users',
      path: '/users/export/ids',
      body: { external_ids: list(50, (at) => `u-${at}`) },
    },
    {
      ...server,
      what: '/users/delete of 50',
      path: '/users/delete',
      body: { external_ids: list(50, (at) => `u-${at + 20}`) },
    },
    {
      ...server,
      what: '/placard/explain, every placement',
      path: '/placard/explain',
      body: { external_user_id: 'u-1' },
    },
    { ...view, what: '/api/campaigns with 2 MB of drafts', path: '/api/campaigns', method: 'GET' },
    {
      ...view,
      what: '/api/checks, a name of 60,000 letters',
      path: '/api/checks',
      body: {
        campaign: {
          ...campaign,
          variants: [
            { variant_id: 'a', properties: { h: { type: 'string', value: `{{${'a'.repeat(60_000)}}}` } } },
          ],
        },
      },
    },
    { ...view, what: '/api/checks, 160 templates', path: '/api/checks', body: { campaign } },
    { ...view, what: '/api/preview', path: '/api/preview', body: { campaign, variant_id: 'v0', person } },
    {
      ...view,
      what: '/api/reach over 5,000 users',
      path: '/api/reach',
      body: {
        campaign: {
          ...campaign,
          variants: [{ variant_id: 'a', properties: {} }],
          audience: { $or: list(50, (at) => ({ [`custom.a${at}`]: at })) },
        },
      },
    },
  ];
};
