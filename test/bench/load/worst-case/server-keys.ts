import { APP_ID } from '../../../helpers/a-workspace.ts';
import { type CostlyRequest, list, shapes, TIME } from './request.ts';

const deep = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

/** Number of users who share each of these e-mail addresses. */
export const SHARERS = 30_000;
export const SHARED_EMAILS = ['all@example.org', 'everyone@example.org'] as const;

export const ofServerKeys = (): CostlyRequest[] => {
  const server = { sender: 'server', aimMs: 200 } as const;
  const track = '/users/track';
  const bulk = '/users/track/bulk';
  return [
    {
      ...server,
      what: '/users/track, 40,000 values of as many shapes',
      path: track,
      body: { attributes: [{ external_id: 'u-1', ...shapes(19_500) }] },
    },
    {
      ...server,
      what: '/users/track, 4 MB of text',
      path: track,
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
      path: track,
      body: {
        attributes: list(75, () => ({ external_id: 'u-1', list: list(500, (n) => `${n}`.padEnd(90, 'x')) })),
      },
    },
    {
      ...server,
      what: '/users/track, 75 events of 256 properties',
      path: track,
      body: {
        events: list(75, () => ({
          external_id: 'u-1',
          name: 'e',
          time: TIME,
          properties: Object.fromEntries(list(256, (name) => [`p${name}`, 'x'.repeat(150)])),
        })),
      },
    },
    {
      ...server,
      what: '/users/track, nested 4,000 deep',
      path: track,
      body: { attributes: [{ external_id: 'u-1', x: deep(4_000) }], y: deep(4_000) },
    },
    {
      ...server,
      what: '/users/track, one value each of 50 of the largest users',
      path: track,
      getBody: (n) => ({ attributes: list(50, (at) => ({ external_id: `big-${at}`, n })) }),
    },
    {
      ...server,
      what: '/users/track/bulk, updates of 100 lists of 6,000 objects',
      path: bulk,
      getBody: (n) => ({
        attributes: list(100, (at) => ({
          external_id: `listed-${at}`,
          list: {
            $update: [{ $identifier_key: 'a', $identifier_value: 1, $new_object: { a: 1, b: n % 10 } }],
          },
        })),
      }),
    },
    {
      ...server,
      what: '/users/track/bulk, 1,000 objects with 15 errors each',
      path: bulk,
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
      path: bulk,
      getBody: (n) => ({
        attributes: list(1_000, (at) => ({
          external_id: `n-${n}-${at}`,
          email: `n-${n}-${at}@example.org`,
          a: 1,
          b: 'x'.repeat(200),
          c: { d: [1, 2, { e: 'f' }] },
        })),
      }),
    },
    {
      ...server,
      what: '/users/identify, 50 entries',
      path: '/users/identify',
      getBody: (n) => ({
        aliases_to_identify: list(50, (at) => ({
          external_id: `i-${n}-${at}`,
          user_alias: { alias_name: `a-${n}-${at}`, alias_label: 'l' },
        })),
      }),
    },
    {
      ...server,
      what: '/users/alias/new, 50 entries',
      path: '/users/alias/new',
      getBody: (n) => ({
        user_aliases: list(50, (at) => ({
          external_id: `big-${at}`,
          alias_name: `b-${n}-${at}`,
          alias_label: 'l',
        })),
      }),
    },
    {
      ...server,
      what: '/users/merge, 10,000 values',
      path: '/users/merge',
      body: {
        merge_updates: list(50, (at) => ({
          identifier_to_merge: { external_id: `n-0-${at}` },
          identifier_to_keep: { external_id: `n-0-${at + 50}` },
        })),
        x: shapes(4_800),
      },
    },
    {
      ...server,
      what: '/users/merge of four of the largest users',
      path: '/users/merge',
      getBody: (n) => ({
        merge_updates: list(4, (at) => ({
          identifier_to_merge: { external_id: `big-${50 + n * 4 + at}` },
          identifier_to_keep: { external_id: `big-${at}` },
        })),
      }),
    },
    {
      ...server,
      // Exports yield to the event loop, so the latency of other requests is the target.
      aimMs: null,
      waitAimMs: 200,
      what: '/users/export/ids of 50 of the largest users',
      path: '/users/export/ids',
      body: { external_ids: list(50, (at) => `big-${at}`) },
    },
    {
      ...server,
      aimMs: null,
      waitAimMs: 200,
      what: `/users/export/ids by an e-mail address that ${SHARERS.toLocaleString('en-US')} users share`,
      path: '/users/export/ids',
      body: { email_address: SHARED_EMAILS[0] },
    },
    {
      ...server,
      aimMs: null,
      waitAimMs: 200,
      what: `/users/track by an e-mail address that ${SHARERS.toLocaleString('en-US')} users share`,
      path: track,
      // Later requests find the users in memory, so each has an address of its own.
      rounds: 1,
      getBody: (n) => ({ attributes: [{ email: SHARED_EMAILS[n], round: n }] }),
    },
    {
      ...server,
      what: `/users/track, a subscription of ${SHARERS.toLocaleString('en-US')} users who share an e-mail address`,
      path: track,
      getBody: (n) => ({
        attributes: [
          {
            external_id: 'sharer-0',
            email: SHARED_EMAILS[0],
            email_subscribe: n % 2 === 0 ? 'opted_in' : 'unsubscribed',
          },
        ],
      }),
    },
    {
      ...server,
      what: '/users/delete of 50',
      path: '/users/delete',
      getBody: (n) => ({ external_ids: list(50, (at) => `u-${n * 50 + at + 100}`) }),
    },
    {
      ...server,
      what: '/placard/explain, ten placements with a hundred campaigns each',
      path: '/placard/explain',
      body: {
        external_user_id: 'big-0',
        app_id: APP_ID,
        placements: list(10, (at) => `home_hero_${at + 1}`),
      },
    },
    {
      ...server,
      what: '/cdi/integrations, of 500',
      path: '/cdi/integrations',
      method: 'GET',
    },
    {
      ...server,
      what: '/cdi/integrations/{id}/job_sync_status, the last page of a year',
      path: `/cdi/integrations/i-0/job_sync_status?cursor=${btoa('skip:30000')}`,
      method: 'GET',
    },
    {
      ...server,
      what: '/cdi/integrations/{id}/sync',
      path: (n) => `/cdi/integrations/i-${n}/sync`,
    },
  ];
};
