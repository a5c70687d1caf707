import { afterEach, expect, test } from 'vitest';
import { APP_ID, aCampaign, aWorkspace, CLIENT_KEY } from '../../helpers/a-workspace.ts';
import { type RunningService, runService } from '../../helpers/running-service.ts';

let service: RunningService;
afterEach(() => service.stop());

const MESSAGE = 'unknown placement: not in the workspace file';
const sync = (...placements: string[]) =>
  service.call('POST', '/v1/device-messaging/banners/sync', {
    key: CLIENT_KEY,
    body: { external_user_id: 'u-771', app_id: APP_ID, app_version: '1', placements },
  });
const warned = () => service.lines.filter(({ message }) => message === MESSAGE);

test('logs an unknown placement with the name of the key and the closest known placement', async () => {
  service = await runService([
    aWorkspace({ placements: [{ placement_id: 'home_hero' }, { placement_id: 'sidebar' }] }),
  ]);
  const { body } = await sync('home_hero', 'home-her', 'footer');
  expect(body.banners).toEqual({ home_hero: null, 'home-her': null, footer: null });
  expect(warned()).toEqual([
    {
      level: 'warn',
      message: MESSAGE,
      workspace: 'test',
      key: 'api_keys[0]',
      placement: 'home-her',
      nearest: 'home_hero',
    },
    { level: 'warn', message: MESSAGE, workspace: 'test', key: 'api_keys[0]', placement: 'footer' },
  ]);
});

test('logs an unknown placement once a minute', async () => {
  service = await runService([aWorkspace({ placements: [] })]);
  for (let count = 0; count < 5; count += 1) await sync('footer');
  expect(warned()).toHaveLength(1);
  service.clock.now += 60_000;
  await sync('footer');
  expect(warned()).toHaveLength(2);
});

test('uses the placements of campaigns if the file does not list placements', async () => {
  service = await runService([aWorkspace({ campaigns: [aCampaign({ placements: ['home'] })] })]);
  await sync('home', 'footer');
  expect(warned().map(({ placement }) => placement)).toEqual(['footer']);
});

test('does not log a value that is not a placement name', async () => {
  service = await runService([aWorkspace()]);
  await sync('kim@example.org', 'x'.repeat(65), 'Kim Doe');
  expect(warned().map(({ placement }) => placement)).toEqual(['(invalid name)']);
});
