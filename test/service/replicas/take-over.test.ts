import { expect, test } from 'vitest';
import type { Exchange } from '../../../src/service/gate/exchange.ts';
import { openStore, type Store } from '../../../src/service/index.ts';
import { HAND_OVER_PATH } from '../../../src/service/replicas/outcome.ts';
import { createTakeOver } from '../../../src/service/replicas/take-over.ts';
import { writeTrack } from '../../../src/service/replicas/track-text.ts';
import { recordingLog } from '../../helpers/running-service.ts';
import { collect } from '../store/contract.ts';
import { aTrack } from './a-track.ts';

const anExchange = (body: string, members: Partial<Exchange> = {}): Exchange => ({
  method: 'POST',
  path: HAND_OVER_PATH,
  search: '',
  header: (name) => (name === 'authorization' ? 'Bearer secret' : undefined),
  body: async () => Buffer.from(body),
  ...members,
});

const aText = (externalId: string) => writeTrack(aTrack({ attributes: [{ external_id: externalId, n: 1 }] }));

const aTakeOver = async (isLeaving = false, change: (store: Store) => Partial<Store> = () => ({})) => {
  const store = await openStore(':memory:');
  const lines: Record<string, unknown>[] = [];
  const takeOver = createTakeOver({
    store: { ...store, ...change(store) },
    token: 'secret',
    log: recordingLog(lines),
    isLeaving: () => isLeaving,
  });
  return { store, lines, takeOver };
};

test('does what was handed over, and says so once it is durable', async () => {
  const { store, takeOver } = await aTakeOver();
  const reply = await takeOver(anExchange(`[${aText('a')},${aText('b')},${aText('a')}]`));
  expect(reply).toMatchObject({ status: 200, body: '{"failed":[]}' });
  const users = await collect(store.exportUsers('test'));
  expect(users.map(({ externalId, custom }) => [externalId, custom['n']])).toEqual([
    ['a', 1],
    ['b', 1],
  ]);
});

test('names by its place what could not be stored, and logs nothing of what it was', async () => {
  const { store, lines, takeOver } = await aTakeOver(false, ({ writeUsers }) => ({
    writeUsers: (work) =>
      work.track?.attributes[0]?.identity?.lookup.value === 'b'
        ? Promise.reject(new Error('no place for b'))
        : writeUsers(work),
  }));
  const reply = await takeOver(anExchange(`[${aText('a')},${aText('b')},{"not":"a track"},${aText('c')}]`));
  expect(reply).toMatchObject({ status: 200, body: '{"failed":[1,2]}' });
  expect(await collect(store.exportUsers('test'))).toHaveLength(2);
  expect(lines.map(({ level, message }) => [level, message])).toEqual([
    ['error', 'work of another replica failed'],
    ['error', 'work of another replica failed'],
  ]);
  expect(JSON.stringify(lines)).not.toContain('no place');
});

const refused = { body: '{"taken":false}' };

test.each(['{"no":"array"}', '[{]', '', 'null'])('refuses %j, and has begun nothing', async (body) => {
  const { takeOver } = await aTakeOver();
  expect(await takeOver(anExchange(body))).toMatchObject({ status: 400, ...refused });
});

test('refuses what is too long, and everything once it is leaving', async () => {
  const { takeOver } = await aTakeOver();
  expect(await takeOver(anExchange('', { body: async () => null }))).toMatchObject({
    status: 413,
    ...refused,
  });
  const { store, takeOver: leaving } = await aTakeOver(true);
  expect(await leaving(anExchange(`[${aText('a')}]`))).toMatchObject({ status: 503, ...refused });
  expect(await collect(store.exportUsers('test'))).toEqual([]);
});

test.each<[string, Partial<Exchange>]>([
  ['with another token', { header: () => 'Bearer secrets' }],
  ['without a token', { header: () => undefined }],
  ['by another method', { method: 'GET' }],
  ['for another path', { path: '/users/track' }],
])('a request %s is none for it', async (_, members) => {
  const { takeOver } = await aTakeOver();
  expect(takeOver(anExchange(`[${aText('a')}]`, members))).toBeUndefined();
});
