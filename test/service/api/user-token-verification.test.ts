import { afterEach, describe, expect, test } from 'vitest';
import { ERROR_MESSAGES, USER_TOKEN_HEADER } from '../../../src/protocol/index.ts';
import { openStore } from '../../../src/service/index.ts';
import { APP_ID, aCampaign, aWorkspace, CLIENT_KEY, SERVER_KEY } from '../../helpers/a-workspace.ts';
import { keptOpen, type RunningService, runService } from '../../helpers/running-service.ts';
import { aToken, ed25519Keys } from '../../helpers/token-keys.ts';

const SYNC = '/v1/device-messaging/banners/sync';
const TRACK = '/v1/device-messaging/banners/track';
const SECONDS = Date.parse('2026-03-01T09:00:00Z') / 1000;
const VISITOR = 'placard-visitor-1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed';
const keys = ed25519Keys();
const getToken = (sub: string, exp = SECONDS + 3_600, pair = keys) => aToken(pair, { sub, aud: APP_ID, exp });

let service: RunningService | undefined;
afterEach(async () => {
  await service?.stop();
  service = undefined;
});

const run = async (app: Record<string, unknown>, options: Parameters<typeof runService>[1] = {}) => {
  const apps = [{ app_id: APP_ID, user_token_keys: [keys.publicPem], ...app }, { app_id: 'without-tokens' }];
  service = await runService([aWorkspace({ apps, campaigns: [aCampaign()] })], options);
};
const envelope = { external_user_id: 'u-771', app_id: APP_ID, app_version: '1' };
const sync = (members: Record<string, unknown> = {}) =>
  service!.call('POST', SYNC, {
    key: CLIENT_KEY,
    body: { ...envelope, placements: ['home'], ...members },
  });
const track = (id: string, members: Record<string, unknown> = {}) =>
  service!.call('POST', TRACK, {
    key: CLIENT_KEY,
    body: {
      ...envelope,
      events: [{ id, event_type: 'impression', timestamp: '2026-03-01T08:59:00.000Z' }],
      ...members,
    },
  });
const getFault = ({ headers }: { headers: Headers }) => headers.get(USER_TOKEN_HEADER);

describe('an app that requires user tokens', () => {
  test('accepts a user with a valid token on both endpoints', async () => {
    await run({ user_tokens: 'required' });
    const user_token = getToken('u-771');
    const { status, body } = await sync({ user_token });
    expect(status).toBe(200);
    expect((await track(body.banners.home.id, { user_token })).status).toBe(202);
  });

  test.each([
    ['without one', {}, 'missing'],
    ['with one of another user', { user_token: getToken('u-772') }, 'wrong_user'],
    ['with an expired one', { user_token: getToken('u-771', SECONDS - 3_600) }, 'expired'],
    [
      'with one signed by another key',
      { user_token: getToken('u-771', SECONDS + 60, ed25519Keys()) },
      'bad_signature',
    ],
    ['with a list', { user_token: [getToken('u-771')] }, 'malformed'],
    ['as a visitor, who is not allowed', { external_user_id: VISITOR }, 'missing'],
  ])(
    'returns 401 in each endpoint’s format, with the reason in a header that pages may read: %s',
    async (_, members, fault) => {
      await run({ user_tokens: 'required' });
      const answers = [await sync(members), await track('bnr_any', members)];
      expect(answers.map(({ status, body }) => ({ status, body }))).toEqual([
        { status: 401, body: { error: 'Invalid user token' } },
        { status: 401, body: { message: 'Invalid user token' } },
      ]);
      for (const answer of answers) {
        expect(getFault(answer)).toBe(fault);
        expect(answer.headers.get('access-control-expose-headers')).toContain(USER_TOKEN_HEADER);
        expect(answer.headers.get('access-control-allow-origin')).toBe('*');
        // The API key is valid.
        expect(answer.headers.get('www-authenticate')).toBeNull();
      }
    },
  );

  test('does not store a rejected request or return data of its user', async () => {
    const store = keptOpen(await openStore(':memory:'));
    await run({ user_tokens: 'optional' }, { store });
    const { id } = (await sync()).body.banners.home;
    await service!.stop();
    await run({ user_tokens: 'required' }, { store });
    expect((await track(id)).status).toBe(401);
    for await (const event of store.exportBannerEvents('test')) expect(event).toBeUndefined();
    expect((await sync()).body).not.toHaveProperty('banners');
  });

  test('accepts visitors without a token if the workspace allows it', async () => {
    await run({ user_tokens: 'required', visitors: true });
    expect((await sync({ external_user_id: VISITOR })).status).toBe(200);
    expect((await sync({ external_user_id: 'placard-visitor-me' })).status).toBe(401);
    expect(getFault(await sync({ external_user_id: VISITOR, user_token: getToken('u-771') }))).toBe(
      'wrong_user',
    );
  });

  test('returns other errors as before, and does not require tokens of other apps', async () => {
    await run({ user_tokens: 'required' });
    expect(await sync({ app_id: 'nobodys' })).toMatchObject({
      status: 400,
      body: { error: ERROR_MESSAGES.unknownApp },
    });
    expect((await sync({ external_user_id: 7 })).status).toBe(400);
    expect((await sync({ placements: [], user_token: getToken('u-771') })).status).toBe(400);
    expect((await sync({ app_id: 'without-tokens' })).status).toBe(200);
    expect((await sync({ app_id: 'without-tokens', user_token: 'nonsense' })).status).toBe(200);
    const wrongKey = await service!.call('POST', SYNC, { key: 'wrong', body: {} });
    expect({ status: wrongKey.status, fault: getFault(wrongKey) }).toEqual({ status: 401, fault: null });
  });

  test('does not require tokens of backends', async () => {
    await run({ user_tokens: 'required' });
    const { status } = await service!.call('POST', '/users/track', {
      key: SERVER_KEY,
      body: {
        attributes: [{ external_id: 'u-771', tier: 'gold' }],
        app_id: APP_ID,
        external_user_id: 'u-771',
      },
    });
    expect(status).toBe(201);
  });

  test('logs neither the token nor the user', async () => {
    await run({ user_tokens: 'required' });
    const user_token = getToken('u-772');
    await sync({ user_token });
    await sync({ user_token: getToken('u-771') });
    const logged = JSON.stringify(service!.lines);
    expect(logged).not.toContain(user_token);
    expect(logged).not.toMatch(/u-77[12]/);
  });
});

test('an app with optional tokens accepts requests without a token, and rejects invalid tokens', async () => {
  await run({ user_tokens: 'optional' });
  expect((await sync()).status).toBe(200);
  expect((await sync({ user_token: null })).status).toBe(200);
  expect((await sync({ user_token: getToken('u-771') })).status).toBe(200);
  expect(getFault(await sync({ user_token: getToken('u-772') }))).toBe('wrong_user');
});

test('an app without token settings ignores tokens', async () => {
  await run({ user_tokens: undefined });
  expect((await sync({ user_token: 'nonsense' })).status).toBe(200);
  expect((await sync({ user_token: { any: 'thing' } })).status).toBe(200);
});
