import { expect, test } from 'vitest';
import { createUserRateLimiter } from '../../../src/service/api/pipeline.ts';
import { createService, openStore } from '../../../src/service/index.ts';
import { createRateWindows } from '../../../src/service/store/rate-windows.ts';
import { APP_ID, aWorkspace, CLIENT_KEY } from '../../helpers/a-workspace.ts';

const twice = { requests: 2, window_seconds: 60 };
const MINUTE = Date.parse('2026-03-01T09:01:00Z');
const sync = { external_user_id: 'u-771', app_id: APP_ID, app_version: '1', placements: ['home'] };

/** Service whose request bodies arrive when the test sends them. */
const aService = async (limits: Record<string, unknown>) => {
  const clock = { now: MINUTE - 1_000 };
  const service = createService({
    workspaces: [aWorkspace({ limits })],
    store: await openStore(':memory:'),
    now: () => clock.now,
  });
  const begin = (path: 'sync' | 'track', body: object) => {
    const sent = Promise.withResolvers<Uint8Array>();
    const reply = service.handle({
      method: 'POST',
      path: `/v1/device-messaging/banners/${path}`,
      search: '',
      address: '',
      requestId: 'r-1',
      header: (name) => ({ authorization: `Bearer ${CLIENT_KEY}`, 'content-type': 'application/json' })[name],
      body: () => sent.promise,
    });
    return async () => {
      sent.resolve(Buffer.from(JSON.stringify(body)));
      return (await reply).status;
    };
  };
  return {
    clock,
    begin,
    ask: (path: 'sync' | 'track', body: object) => begin(path, body)(),
    close: service.close,
  };
};

test('does not raise the limit of a user for a request whose body arrives in the next minute', async () => {
  const { clock, begin, ask, close } = await aService({ banners_sync: { per_user: twice } });
  const send = begin('sync', sync);
  clock.now = MINUTE + 1_000;
  const statuses = [await ask('sync', sync), await send(), await ask('sync', sync), await ask('sync', sync)];
  expect(statuses).toEqual([200, 200, 429, 429]);
  await close();
});

test('does not raise the limit of all visitors for a late body', async () => {
  const { clock, begin, ask, close } = await aService({ visitors: twice });
  const visit = (n: number) => ({
    ...sync,
    external_user_id: `placard-visitor-0000000${n}-0000-4000-8000-000000000000`,
    events: [{ id: 'none', event_type: 'click', timestamp: '' }],
  });
  const send = begin('track', visit(1));
  clock.now = MINUTE + 1_000;
  const statuses = [await ask('track', visit(2)), await send(), await ask('track', visit(3))];
  expect(statuses).toEqual([400, 400, 429]);
  await close();
});

const RULE = { requests: 2, windowSeconds: 60 };

test.each<[string, () => (nowMs: number) => unknown]>([
  [
    'of a user',
    () => {
      const take = createUserRateLimiter();
      return async (nowMs) => take('shop:sync', 'u-1', RULE, nowMs).allowed;
    },
  ],
  [
    'of a store',
    () => {
      const take = createRateWindows(async ({ leased }, wanted) => leased + wanted);
      return async (nowMs) => (await take([{ key: 'shop', rule: RULE }], nowMs)).allowed;
    },
  ],
])('moves a window %s back only if the clock moves back by more than a window', async (_, made) => {
  const take = made();
  const taken = [];
  for (const at of [MINUTE + 1, MINUTE - 1, MINUTE + 2]) taken.push(await take(at));
  expect(taken).toEqual([true, true, false]);
  expect(await take(MINUTE - 60_001)).toBe(true);
});
