import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { USER_TOKEN_HEADER, VISITOR_JOIN_PATH } from '../../../src/protocol/index.ts';
import { openStore, type Store } from '../../../src/service/index.ts';
import { APP_ID, aCampaign, aWorkspace, CLIENT_KEY, SERVER_KEY } from '../../helpers/a-workspace.ts';
import { keptOpen, type RunningService, runService, STORES } from '../../helpers/running-service.ts';
import { aToken, ed25519Keys } from '../../helpers/token-keys.ts';

const VISITOR = 'placard-visitor-1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed';
const OTHER = 'placard-visitor-00000000-0000-4000-8000-000000000000';
const keys = ed25519Keys();
const getToken = (sub: string) =>
  aToken(keys, { sub, aud: APP_ID, exp: Date.parse('2026-03-01T10:00:00Z') / 1000 });

describe.each(STORES)('on $name', ({ address }) => {
  let shared: Store;
  let workspaceId = '';
  let service: RunningService;
  beforeAll(async () => {
    shared = await openStore(await address());
  });
  afterAll(() => shared.close());
  beforeEach(async ({ task }) => {
    workspaceId = `test-${task.id}`;
    service = await runService(
      [
        aWorkspace({
          workspace_id: workspaceId,
          apps: [
            { app_id: APP_ID, user_tokens: 'optional', user_token_keys: [keys.publicPem] },
            { app_id: 'without-tokens' },
          ],
          campaigns: [
            aCampaign({ audience: { cart: 'full' } }),
            aCampaign({ campaign_id: 'everyone', placements: ['side'] }),
          ],
          blocked_external_ids: ['blocked'],
        }),
      ],
      { store: keptOpen(shared) },
    );
  });
  afterEach(() => service.stop());

  const joining = {
    external_user_id: 'u-771',
    app_id: APP_ID,
    app_version: '1',
    visitor_id: VISITOR,
    user_token: getToken('u-771'),
  };
  const join = (members: Record<string, unknown> = {}, key = CLIENT_KEY) =>
    service.call('POST', VISITOR_JOIN_PATH, { key, body: { ...joining, ...members } });
  const know = (external_id: string, attributes: Record<string, unknown>) =>
    service.call('POST', '/users/track', {
      key: SERVER_KEY,
      body: { attributes: [{ external_id, ...attributes }] },
    });
  const getUser = async (external_id: string) => {
    const asked = { external_ids: [external_id], fields_to_export: ['external_id', 'custom_attributes'] };
    return (await service.call('POST', '/users/export/ids', { key: SERVER_KEY, body: asked })).body.users[0];
  };

  test('moves the data of a visitor to a user without data', async () => {
    await know(VISITOR, { cart: 'full' });
    const { status, body } = await join();
    expect({ status, body }).toEqual({ status: 200, body: { message: 'success' } });
    expect(await getUser('u-771')).toEqual({ external_id: 'u-771', custom_attributes: { cart: 'full' } });
    expect(await getUser(VISITOR)).toBeUndefined();
  });

  test('adds missing data to a known user and keeps the other data', async () => {
    await know('u-771', { tier: 'gold', cart: 'empty' });
    await know(VISITOR, { cart: 'full', seen: 'teapot' });
    await join();
    expect((await getUser('u-771')).custom_attributes).toEqual({
      tier: 'gold',
      cart: 'empty',
      seen: 'teapot',
    });
    expect(await getUser(VISITOR)).toBeUndefined();
  });

  test('is visible to the user’s next sync', async () => {
    await know(VISITOR, { cart: 'full' });
    await join();
    const { body } = await service.call('POST', '/v1/device-messaging/banners/sync', {
      key: CLIENT_KEY,
      body: { external_user_id: 'u-771', app_id: APP_ID, app_version: '1', placements: ['home'] },
    });
    expect(body.banners.home).not.toBeNull();
  });

  test('is idempotent, and does not create a user for an unknown visitor', async () => {
    await know(VISITOR, { cart: 'full' });
    await join();
    await know('u-771', { cart: 'paid' });
    expect((await join()).status).toBe(200);
    expect((await getUser('u-771')).custom_attributes).toEqual({ cart: 'paid' });
    const nobody = { external_user_id: 'u-772', visitor_id: OTHER, user_token: getToken('u-772') };
    expect((await join(nobody)).status).toBe(200);
    expect(await getUser('u-772')).toBeUndefined();
  });

  const banners = async (user: string) => {
    const body = { external_user_id: user, app_id: APP_ID, app_version: '1', placements: ['side'] };
    const answer = await service.call('POST', '/v1/device-messaging/banners/sync', { key: CLIENT_KEY, body });
    return answer.body.banners.side;
  };
  const tell = (user: string, id: string, event_type: string, second: number) =>
    service.call('POST', '/v1/device-messaging/banners/track', {
      key: CLIENT_KEY,
      body: {
        external_user_id: user,
        app_id: APP_ID,
        app_version: '1',
        events: [{ id, event_type, timestamp: `2026-03-01T08:00:0${second}.000Z` }],
      },
    });
  const exported = async () => {
    const events: string[] = [];
    for await (const { externalId, eventType } of shared.exportBannerEvents(workspaceId)) {
      events.push(`${externalId} ${eventType}`);
    }
    return events.sort();
  };

  test.each([
    ['a user without data', async () => undefined],
    ['a known user', () => know('u-771', { tier: 'gold' })],
    [
      'a user with an earlier impression',
      async () => tell('u-771', (await banners('u-771')).id, 'impression', 0),
    ],
  ])('moves impressions and dismissals of the visitor to %s, counted once', async (_, before) => {
    await before();
    const own = await exported();
    const { id } = await banners(VISITOR);
    await tell(VISITOR, id, 'impression', 1);
    await tell(VISITOR, id, 'dismiss', 2);
    for (let time = 0; time < 2; time += 1) expect((await join()).status).toBe(200);
    expect(await banners('u-771')).toBeNull();
    expect(await exported()).toEqual([...own, 'u-771 dismiss', 'u-771 impression'].sort());
    expect((await shared.loadTargetingData(workspaceId, VISITOR)).campaigns).toEqual([]);
    expect((await shared.loadTargetingData(workspaceId, 'u-771')).campaigns).toMatchObject([
      { campaignId: 'everyone', impressions: own.length + 1, dismissals: 1 },
    ]);
  });

  test('merges a visitor who only has test sends', async () => {
    const { id } = await banners(VISITOR);
    await service.call('POST', '/v1/device-messaging/banners/track', {
      key: CLIENT_KEY,
      headers: { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1)' },
      body: {
        external_user_id: VISITOR,
        app_id: APP_ID,
        app_version: '1',
        events: [{ id, event_type: 'impression', timestamp: '2026-03-01T08:00:01.000Z' }],
      },
    });
    const exists = async (user: string) => (await shared.loadTargetingData(workspaceId, user)).exists;
    expect(await exists(VISITOR)).toBe(true);
    expect((await join()).status).toBe(200);
    expect([await exists(VISITOR), await exists('u-771')]).toEqual([false, true]);
  });

  test('counts an event of both profiles once', async () => {
    const { id } = await banners(VISITOR);
    await tell(VISITOR, id, 'impression', 1);
    await tell('u-771', id, 'impression', 1);
    await join();
    expect(await exported()).toEqual(['u-771 impression']);
  });

  test.each([
    ['without a token', { user_token: undefined }, 401, 'missing'],
    ['with the token of another user', { user_token: getToken('u-772') }, 401, 'wrong_user'],
    ['with an unsigned token', { user_token: 'a.b.c' }, 401, 'malformed'],
    ['for an app without tokens', { app_id: 'without-tokens' }, 403, null],
    ['for an unknown app', { app_id: 'nobodys' }, 400, null],
    ['without a visitor', { visitor_id: undefined }, 400, null],
    ['with a user instead of a visitor', { visitor_id: 'u-1' }, 400, null],
    ['with a visitor that is not a string', { visitor_id: [VISITOR] }, 400, null],
    ['with a visitor instead of a user', { external_user_id: OTHER, user_token: getToken(OTHER) }, 400, null],
    ['for a blocked user', { external_user_id: 'blocked', user_token: getToken('blocked') }, 400, null],
  ])('does not join data %s', async (_, members, status, fault) => {
    await know(VISITOR, { cart: 'full' });
    await know('u-1', { cart: 'of another' });
    const answer = await join(members);
    expect(answer.status).toBe(status);
    expect(answer.headers.get(USER_TOKEN_HEADER)).toBe(fault);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(await getUser('u-771')).toBeUndefined();
    expect(await getUser(VISITOR)).toBeDefined();
    expect(await getUser('u-1')).toBeDefined();
  });

  test('requires a client key', async () => {
    expect((await join({}, SERVER_KEY)).status).toBe(403);
    expect((await join({}, 'wrong')).status).toBe(401);
    expect((await service.call('OPTIONS', VISITOR_JOIN_PATH)).status).toBe(204);
  });
});
