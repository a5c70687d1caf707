import { afterEach, expect, test } from 'vitest';
import { APP_ID, aCampaign, aWorkspace, CLIENT_KEY } from '../../helpers/a-workspace.ts';
import { type RunningService, runService } from '../../helpers/running-service.ts';

let service: RunningService | undefined;
afterEach(() => service?.stop());

const visitor = (index: number) =>
  `placard-visitor-00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
const call = (endpoint: 'sync' | 'track', user: string, members: Record<string, unknown>) =>
  service!.call('POST', `/v1/device-messaging/banners/${endpoint}`, {
    key: CLIENT_KEY,
    body: { external_user_id: user, app_id: APP_ID, app_version: '1', ...members },
  });
const sync = (user: string) => call('sync', user, { placements: ['home'] });
const track = async (user: string, count = 1) => {
  const { id } = (await sync(user)).body.banners.home;
  const events = Array.from({ length: count }, (_, index) => ({
    id,
    event_type: 'click',
    timestamp: new Date(service!.clock.now - index).toISOString(),
  }));
  return call('track', user, { events });
};

test('limits generated visitor IDs together, separately from users', async () => {
  const limits = { visitors: { requests: 3, window_seconds: 60 } };
  service = await runService([aWorkspace({ campaigns: [aCampaign()], limits })]);
  const statuses = [];
  for (let index = 0; index < 5; index += 1) statuses.push((await track(visitor(index))).status);
  expect(statuses).toEqual([202, 202, 202, 429, 429]);
  const refused = await track(visitor(9));
  expect(refused.body).toEqual({ message: 'Over rate limit' });
  expect(Number(refused.headers.get('x-ratelimit-retry-after'))).toBeGreaterThan(0);
  expect(JSON.stringify(service.lines)).toContain('all visitors');
  // A sync stores nothing, and users have their own limits.
  expect((await sync(visitor(9))).status).toBe(200);
  expect((await track('u-771')).status).toBe(202);
  service.clock.now += 60_000;
  expect((await track(visitor(9))).status).toBe(202);
});

test('accepts at most as many events of a visitor at once as the client sends', async () => {
  service = await runService([aWorkspace({ campaigns: [aCampaign()] })]);
  expect((await track(visitor(1), 50)).status).toBe(202);
  expect(await track(visitor(1), 51)).toMatchObject({
    status: 400,
    body: { message: "'events' must hold no more than 50 events" },
  });
  expect((await track('u-771', 51)).status).toBe(202);
});

test('does not store anything on a sync of a visitor', async () => {
  service = await runService([aWorkspace({ campaigns: [aCampaign()] })]);
  for (let index = 0; index < 20; index += 1) await sync(visitor(index));
  for await (const user of service.store.exportUsers('test')) expect(user).toBeUndefined();
});
