import { describe, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/service/index.ts';
import type { CustomEvent } from '../../src/service/profiles/events.ts';
import { TransientError } from '../../src/service/store/write-errors.ts';
import { APP_ID, aCampaign, aWorkspace } from '../helpers/a-workspace.ts';
import { patience } from '../helpers/patience.ts';
import { aDatabase, END_ALL, lockBeside, runBeside, waitsFor } from '../helpers/postgres.ts';
import { asServer, runService } from '../helpers/running-service.ts';
import { tcpDoor } from '../helpers/tcp-door.ts';
import { collect } from './store/examples.ts';

const TIME = '2026-02-01T00:00:00Z';

const aService = async () => {
  const url = await aDatabase();
  const door = await tcpDoor(url);
  // Results stay as they are, so that the door cuts transactions of requests only.
  const catchUpResults = () => Promise.resolve({ isCaughtUp: true, asOfMs: 0 });
  const store = { ...(await openStore(door.url)), addGoals: () => Promise.resolve(), catchUpResults };
  const service = await runService([aWorkspace({ campaigns: [aCampaign()] })], { store });
  onTestFinished(service.stop);
  const track = (name: string) =>
    service.call('POST', '/users/track', {
      ...asServer,
      body: { events: [{ external_id: 'u-1', name, time: TIME }] },
    });
  const stored = async () => {
    const events = await collect(service.store.exportEvents('test'));
    return events.map((event) => (event as CustomEvent).name).toSorted();
  };
  return { url, door, service, track, stored };
};

const GATEWAY_TIMEOUT = {
  status: 504,
  body: { message: 'Gateway Timeout', errors: [{ type: 'Gateway Timeout' }] },
};

describe('a request whose write is stored without a confirmation', () => {
  test('receives 504, because a retry would count twice', async () => {
    const { door, service, track, stored } = await aService();
    expect((await track('first')).status).toBe(201);
    door.cutAnswer('COMMIT');
    expect(await track('second')).toMatchObject(GATEWAY_TIMEOUT);
    expect(door.hasCut()).toBe(true);
    expect((await track('third')).status).toBe(201);
    expect(await stored()).toEqual(['first', 'second', 'third']);
    expect(service.lines).toContainEqual(
      expect.objectContaining({ level: 'error', message: 'request failed', error: 'InDoubtError' }),
    );
  });

  test('receives 504 for banner events', async () => {
    const { door, service, track } = await aService();
    const envelope = { external_user_id: 'u-1', app_id: APP_ID, app_version: '1.0.0' };
    const call = (path: string, body: object) =>
      service.call('POST', `/v1/device-messaging/banners/${path}`, {
        key: service.clientKey,
        body: { ...envelope, ...body },
      });
    const { body } = await call('sync', { placements: ['home'] });
    const [banner] = Object.values<{ id: string }>(body.banners ?? body.placements ?? body);
    const record = () =>
      call('track', { events: [{ id: banner!.id, event_type: 'impression', timestamp: TIME }] });
    // A known user, because the first lookup of an unknown user writes nothing.
    await track('known');
    door.cutAnswer('COMMIT');
    expect(await record()).toMatchObject({ status: 504, body: { message: 'Gateway Timeout' } });
    expect(door.hasCut()).toBe(true);
    expect(await collect(service.store.exportBannerEvents('test'))).toHaveLength(1);
    expect((await record()).status).toBe(202);
    expect(await collect(service.store.exportBannerEvents('test'))).toHaveLength(1);
  });
});

test('returns 503 if the write is postponed, and logs the reason once a minute', async () => {
  const store = await openStore(':memory:');
  const cause = Object.assign(new Error('database is locked'), { code: 'ERR_SQLITE_ERROR', errcode: 5 });
  const write = () => Promise.reject(new TransientError('later', { cause }));
  const service = await runService([aWorkspace()], { store: { ...store, write } });
  onTestFinished(service.stop);
  const body = { events: [{ external_id: 'u-1', name: 'seen', time: TIME }] };
  for (let times = 0; times < 3; times += 1)
    expect(await service.call('POST', '/users/track', { ...asServer, body })).toMatchObject({ status: 503 });
  expect(service.lines.filter(({ message }) => message === 'request failed: store unavailable')).toEqual([
    expect.objectContaining({
      level: 'warn',
      path: '/users/track',
      error: 'TransientError',
      cause: expect.objectContaining({ errcode: 5 }),
    }),
  ]);
});

test('returns 500 if the database canceled the write or never received it', async () => {
  const { url, door, track, stored } = await aService();
  const run = runBeside(url);
  expect((await track('first')).status).toBe(201);
  // About to begin, with nothing stored: the response to its first statement is lost.
  door.cutAnswer('BEGIN');
  expect((await track('lost')).status).toBe(500);
  expect(door.hasCut()).toBe(true);
  await lockBeside(url, 'LOCK TABLE events IN ACCESS EXCLUSIVE MODE');
  const waiting = track('ended');
  await expect.poll(() => run(waitsFor()), { interval: 10 }).not.toEqual([]);
  await run(END_ALL);
  expect((await waiting).status).toBe(500);
  // The reader's connections were closed too.
  await expect.poll(() => stored().catch(String)).toEqual(['first']);
});

test('returns 503 with Retry-After if too many requests are waiting, also from /readyz', async () => {
  const { url, service, track, stored } = await aService();
  expect((await track('first')).status).toBe(201);
  const { release } = await lockBeside(url, 'LOCK TABLE users IN ACCESS EXCLUSIVE MODE');
  const requests = Promise.all(Array.from({ length: 650 }, () => track('refused')));
  // While they expire: a slow machine may take longer for the last of them than the service sheds load.
  const readyStatus = async () => (await service.call('GET', '/readyz')).status;
  await expect.poll(readyStatus, { timeout: patience(30_000) }).toBe(503);
  const answers = await requests;
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
  const [{ body, headers }] = answers as [(typeof answers)[number]];
  expect(body).toEqual({ message: 'Service Unavailable', errors: [{ type: 'Service Unavailable' }] });
  expect(headers.get('retry-after')).toBe('1');
  await release();
  expect(await stored()).toEqual(['first']);
});
