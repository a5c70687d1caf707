import { afterEach, expect, test } from 'vitest';
import { ERROR_MESSAGES } from '../../../src/protocol/index.ts';
import { APP_ID, aWorkspace } from '../../helpers/a-workspace.ts';
import { type RunningService, runService } from '../../helpers/running-service.ts';

const SYNC = '/v1/device-messaging/banners/sync';
const TRACK = '/v1/device-messaging/banners/track';
const envelope = { external_user_id: 'u-771', app_id: APP_ID, app_version: '1', placements: ['home'] };

let service: RunningService;
afterEach(() => service.stop());

const run = async (members: Record<string, unknown> = {}) => {
  service = await runService([
    aWorkspace({
      api_keys: [
        { name: 'browser', type: 'client', key: 'browser-key', permissions: ['banners.sync'] },
        { name: 'backend', type: 'server', key: 'backend-key', permissions: ['users.track'] },
      ],
      ...members,
    }),
  ]);
};
const warned = () => service.lines.filter(({ message }) => message === 'requests rejected');
const facts = { level: 'warn', message: 'requests rejected', request_id: expect.any(String) };

test('logs a wrong key by endpoint, without the key', async () => {
  await run();
  await service.call('POST', SYNC, { key: 'mistyped-key', body: envelope });
  await service.call('POST', '/users/track', { headers: { authorization: 'Basic x' }, body: {} });
  await service.call('POST', '/users/track', { body: {} });
  expect(warned()).toEqual([
    { ...facts, path: SYNC, status: 401, reason: 'unknown API key' },
    {
      ...facts,
      path: '/users/track',
      status: 401,
      reason: 'malformed Authorization header',
    },
    { ...facts, path: '/users/track', status: 401, reason: 'no Authorization header' },
  ]);
  expect(JSON.stringify(service.lines)).not.toContain('mistyped-key');
});

test('logs a missing permission with the name of the key, for any status of the endpoint', async () => {
  await run();
  await service.call('POST', SYNC, { key: 'backend-key', body: envelope });
  await service.call('POST', TRACK, { key: 'browser-key', body: envelope });
  expect(warned()).toEqual([
    {
      ...facts,
      workspace: 'test',
      key: 'backend',
      path: SYNC,
      status: 401,
      reason: 'the key lacks the permission banners.sync',
    },
    {
      ...facts,
      workspace: 'test',
      key: 'browser',
      path: TRACK,
      status: 403,
      reason: 'the key lacks the permission banners.track',
    },
  ]);
});

test('logs a rate limit with its name and scope', async () => {
  const once = { requests: 1, window_seconds: 60 };
  await run({ limits: { banners_sync: { per_user: once }, users_track: once } });
  for (const _ of [1, 2]) {
    await service.call('POST', SYNC, { key: 'browser-key', body: envelope });
    await service.call('POST', '/users/track', {
      key: 'backend-key',
      body: { attributes: [{ external_id: 'u-771' }] },
    });
  }
  expect(warned().map(({ key, status, reason }) => ({ key, status, reason }))).toEqual([
    {
      key: 'browser',
      status: 429,
      reason: 'Over rate limit: more than 1 requests of one user in the window of limits.banners_sync',
    },
    {
      key: 'backend',
      status: 429,
      reason: 'Over rate limit: more than 1 requests of the workspace in the window of limits.users_track',
    },
  ]);
});

test('logs an invalid request with its validation errors', async () => {
  await run();
  await service.call('POST', SYNC, { key: 'browser-key', body: { ...envelope, app_id: 'another' } });
  expect(warned()).toMatchObject([{ key: 'browser', status: 400, reason: ERROR_MESSAGES.unknownApp }]);
});

test('logs each cause once a minute', async () => {
  await run();
  const ask = () => service.call('POST', SYNC, { key: 'mistyped-key', body: envelope });
  for (let count = 0; count < 20; count += 1) await ask();
  expect(warned()).toHaveLength(1);
  service.clock.now += 59_999;
  await ask();
  expect(warned()).toHaveLength(1);
  service.clock.now += 1;
  await ask();
  expect(warned()).toHaveLength(2);
});
