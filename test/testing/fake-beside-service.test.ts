import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  INTEGRATIONS_PATH,
  PLACEMENTS_PATH,
  SYNC_PATH,
  TRACK_PATH,
  USERS_TRACK_PATH,
} from '../../src/protocol/index.ts';
import { createService, openStore, type Service } from '../../src/service/index.ts';
import { buildBanner, createFakeService, type FakeService } from '../../src/testing/index.ts';
import { APP_ID, aCampaign, aWorkspace, CLIENT_KEY, SERVER_KEY } from '../helpers/a-workspace.ts';

const AT = '2026-03-01T09:15:00Z';
const integrations = Array.from({ length: 23 }, (_, at) => ({
  integration_id: `i-${at}`,
  app_group_id: 'g',
  integration_name: `n-${at}`,
  integration_type: 'users',
  integration_status: 'active',
  contact_emails: 'a@example.com',
  last_updated_at: AT,
  warehouse_type: 'snowflake',
  last_job_start_time: '',
  last_job_status: '',
  next_scheduled_run: '',
}));

/** The campaign as in a workspace file, and as pages receive it. */
const INSERTED = {
  placement_id: 'offer',
  selector: 'main > h1',
  insert: 'prepend' as const,
  paths: ['*'],
  template: 'card',
  height_px: 300,
  wide_height_px: 120,
};
const PLACEMENTS = [INSERTED, { placement_id: 'home' }, { placement_id: 'elsewhere' }];

/** Typical mistakes in a host's tests: the fake must report the same errors as the service. */
describe('the fake service, compared to the service,', () => {
  let service: Service;
  let fake: FakeService;
  let bannerId: string;

  beforeAll(async () => {
    const workspace = aWorkspace({ integrations, campaigns: [aCampaign()], placements: PLACEMENTS });
    service = createService({ workspaces: [workspace], store: await openStore(':memory:') });
    const answer = await ask(service.fetch, SYNC_PATH, { ...envelope, placements: ['home'] });
    bannerId = JSON.parse(answer.text).banners.home.id;
    fake = createFakeService({
      clientKey: CLIENT_KEY,
      serverKey: SERVER_KEY,
      appIds: [APP_ID],
      integrations,
      placements: [INSERTED],
      banners: { home: buildBanner('home', {}, { id: bannerId }) },
    });
    await ask(fake.handle, SYNC_PATH, { ...envelope, placements: ['home'] });
  });
  afterAll(() => service.close());

  const envelope = { external_user_id: 'u-1', app_id: APP_ID, app_version: '1.0' };
  const ask = async (
    handle: (request: Request) => Promise<Response>,
    path: string,
    body?: unknown,
    method = body === undefined ? 'GET' : 'POST',
  ) => {
    const key = /^\/(v1|placard)\//.test(path) ? CLIENT_KEY : SERVER_KEY;
    const response = await handle(
      new Request(`http://placard.test${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    );
    const { status, headers } = response;
    return {
      status,
      link: headers.get('link'),
      allow: headers.get('allow'),
      origin: headers.get('access-control-allow-origin'),
      text: await response.text(),
    };
  };
  const expectTheSame = async (path: string, body?: unknown, method?: string) => {
    const real = await ask(service.fetch, path, body, method);
    expect(await ask(fake.handle, path, body, method)).toEqual(real);
    return real.status;
  };

  it.each([
    AT,
    '2026-03-01 09:15:00Z',
    '2026-03-01T09:15:00+0100',
    '2026-03-01T09:15:00+01',
    '2026-03-01T09:15Z',
    '2026-03-01T09:15+01:00',
    '2026-03-01T09:15:00 +0100',
    '2026-03-01t09:15:00z',
    '2026-03-01T09:15:00,5Z',
    '2026-03-01T09:15:00.123456Z',
    '2026-03-01T24:00:00Z',
    '2026-03-01T09:15:60Z',
    '2026-03-01T09:15:00',
    '2026-03-01',
    '2026-02-29T00:00:00Z',
    'yesterday',
    1_772_356_500,
  ])('accepts the same times: %s', async (time) => {
    const event = { id: bannerId, event_type: 'click', timestamp: time };
    await expectTheSame(TRACK_PATH, { ...envelope, events: [event] });
    await expectTheSame(USERS_TRACK_PATH, { events: [{ external_id: 'u', name: 'n', time }] });
  });

  it.each([
    { device_id: null },
    { device_id: '' },
    { device_id: 5 },
    { device_id: 'x'.repeat(1_012) },
    { app_id: 'another' },
    { app_id: 7 },
    { app_version: '' },
    { app_version: 'x'.repeat(256) },
    { app_version: '😀'.repeat(255) },
    { external_user_id: 'x'.repeat(987) },
    { external_user_id: 'x'.repeat(986) },
    { external_user_id: '' },
    { external_user_id: 'a\0b' },
    { placements: [] },
    { placements: null },
    { placements: ['home', ''] },
  ])('validates the members of both banner endpoints equally: %j', async (members) => {
    await expectTheSame(SYNC_PATH, { ...envelope, placements: ['elsewhere'], ...members });
    const events = [{ id: bannerId, event_type: 'click', timestamp: AT }];
    await expectTheSame(TRACK_PATH, { ...envelope, events, ...members });
  });

  it.each([{}, { missing: ['offer', 'x'] }, { missing: 'offer' }, { missing: [5] }, []])(
    'returns the same placements by selector: %j',
    async (body) => {
      await expectTheSame(PLACEMENTS_PATH, body);
    },
  );
  it('allows pages of any origin to read placements by selector, with POST only', async () => {
    await expectTheSame(PLACEMENTS_PATH, undefined, 'GET');
  });

  it.each([
    ['of an unknown user', 'stranger', [], 400],
    ['of a user whom a server created', 'named', [{ external_id: 'named', n: 1 }], 202],
    [
      'of a user whom a server would only update',
      'other',
      [{ external_id: 'other', _update_existing_only: true }],
      400,
    ],
    ['of a user after a sync', 'u-1', [], 202],
  ])('handles an event about a banner of another user equally: %s', async (_, user, attributes, status) => {
    if (attributes.length > 0) await expectTheSame(USERS_TRACK_PATH, { attributes });
    const events = [{ id: bannerId, event_type: 'impression', timestamp: AT }];
    expect(await expectTheSame(TRACK_PATH, { ...envelope, external_user_id: user, events })).toBe(status);
    // The user is known once one event is stored.
    expect(await expectTheSame(TRACK_PATH, { ...envelope, external_user_id: user, events })).toBe(status);
  });

  const event = { external_id: 'u', name: 'n', time: AT };
  const purchase = { external_id: 'u', product_id: 'p', currency: 'EUR', price: 1, time: AT };
  it.each<Record<string, unknown>>([
    { events: [{ ...event, name: '' }] },
    { events: [{ ...event, name: 'x'.repeat(256) }] },
    { events: [{ ...event, braze_id: 'b' }] },
    { events: [{ ...event, external_id: 5 }] },
    { events: [{ ...event, external_id: true }] },
    { events: [{ ...event, external_id: '' }] },
    { events: [{ name: 'n', time: AT, user_alias: { alias_name: 'n' } }] },
    { events: [event, { ...event, time: '2026-03-01' }] },
    { events: [{}] },
    { purchases: [purchase] },
    { purchases: [{ ...purchase, currency: 'eur', product_id: 5, quantity: 100 }] },
    { purchases: [{ ...purchase, currency: 'EURO' }] },
    { purchases: [{ ...purchase, currency: 'XXY' }] },
    { purchases: [{ ...purchase, price: '5' }] },
    { purchases: [{ ...purchase, quantity: 0 }] },
    { purchases: [{ ...purchase, quantity: 101 }] },
    { purchases: [{ ...purchase, quantity: '1' }] },
    { purchases: [{ external_id: 'u' }] },
    { attributes: [{ external_id: 'x'.repeat(988) }] },
    { attributes: [{ external_id: 'u', email: 'not an address' }] },
    { attributes: [{ email: 'not an address' }] },
    { attributes: [{ external_id: 'u' }, { external_id: 'v', _update_existing_only: 'true' }] },
    { attributes: [{ external_id: 'u', phone: '12' }] },
    { attributes: [{ phone: '+49 171 7654321', tier: 'gold' }] },
    { attributes: [{ push_token_import: true, push_tokens: [{ app_id: APP_ID, token: 't' }] }] },
    { attributes: [{ push_token_import: true }] },
    {
      attributes: [
        { external_id: 'u', push_token_import: true, push_tokens: [{ app_id: APP_ID, token: 't' }] },
      ],
    },
    { attributes: { external_id: 'u' } },
    { attributes: null },
    {},
  ])('validates the objects of users/track equally: %j', async (body) => {
    await expectTheSame(USERS_TRACK_PATH, body);
  });

  it.each([
    'skip:0',
    'skip:10',
    'skip:20',
    'skip:30',
    'skip:1000',
    'skip:5',
    'skip:010',
    'skip:9999999999990',
    '',
  ])('pages through integrations equally: %s', async (cursor) => {
    await expectTheSame(`${INTEGRATIONS_PATH}?cursor=${btoa(cursor)}`);
  });

  it.each(['c2tpcDoyMA', 'c2tp%20cDoyMA==', 'c2tpcDoyMA==', '%7B', 'c2tpcDoyMA==='])(
    'reads the same cursors: %s',
    async (cursor) => {
      await expectTheSame(`${INTEGRATIONS_PATH}?cursor=${cursor}`);
    },
  );

  it.each([SYNC_PATH, TRACK_PATH, USERS_TRACK_PATH])('rejects a body above 4 MB: %s', async (path) => {
    await expectTheSame(path, { ...envelope, pad: 'x'.repeat(4_200_000) });
  });

  it.each([SYNC_PATH, TRACK_PATH, USERS_TRACK_PATH])('rejects a body that is not JSON: %s', async (path) => {
    await expectTheSame(path, '{');
  });

  it.each([USERS_TRACK_PATH, INTEGRATIONS_PATH])(
    'does not allow pages of other origins to call %s',
    async (path) => {
      expect(await expectTheSame(path, undefined, 'OPTIONS')).toBe(405);
      const open = await ask(fake.handle, path, path === USERS_TRACK_PATH ? { events: [event] } : undefined);
      expect([open.status < 300, open.origin]).toEqual([true, null]);
    },
  );
});
