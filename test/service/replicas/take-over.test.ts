import { expect, test } from 'vitest';
import type { Exchange } from '../../../src/service/gate/exchange.ts';
import { openStore, type Store } from '../../../src/service/index.ts';
import { HAND_OVER_PATH } from '../../../src/service/replicas/outcome.ts';
import { createTakeOver } from '../../../src/service/replicas/take-over.ts';
import { writeTrack } from '../../../src/service/replicas/track-text.ts';
import { InDoubtError, NotNowError } from '../../../src/service/store/write-errors.ts';
import { recordingLog } from '../../helpers/running-service.ts';
import { collect } from '../store/contract.ts';
import { aTrack, TIME } from './a-track.ts';

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

test('tells apart what may be stored, what was not begun, and what failed', async () => {
  const errors = [undefined, new InDoubtError('a'), new NotNowError('b'), new Error('c')];
  const { lines, takeOver } = await aTakeOver(false, () => ({
    writeUsers: async () => {
      const error = errors.shift();
      if (error) throw error;
      return undefined as never;
    },
  }));
  const reply = await takeOver(anExchange(`[${['a', 'b', 'c', 'd'].map(aText).join(',')}]`));
  expect(reply?.body).toBe('{"failed":[1,2,3],"inDoubt":[1],"notNow":[2]}');
  expect(lines.map(({ error }) => error)).toEqual(['InDoubtError', 'Error']);
});

const aWritten = () =>
  JSON.parse(
    writeTrack(
      aTrack({
        attributes: [{ external_id: 'a', n: 1 }],
        events: [{ external_id: 'a', name: 'e', time: TIME }],
      }),
    ),
  );

test.each<[string, (track: ReturnType<typeof aWritten>) => void]>([
  ['without a user', (track) => delete track.attributes[0].user],
  ['with a user who is no text', (track) => Object.assign(track.doings[0], { user: 5 })],
  ['with attributes that are no array', (track) => Object.assign(track, { attributes: {} })],
  ['with an object that is none', (track) => track.doings.push(null)],
  ['without changes', (track) => delete track.attributes[0].custom],
  ['of no workspace', (track) => delete track.workspaceId],
  ['of no time', (track) => Object.assign(track, { nowMs: '5' })],
  ['with an event of no time', (track) => delete track.doings[0].timeMs],
])('a track %s comes to no store', async (_, spoil) => {
  let writes = 0;
  const { takeOver } = await aTakeOver(false, ({ writeUsers }) => ({
    writeUsers: (work) => {
      writes += 1;
      return writeUsers(work);
    },
  }));
  const spoilt = aWritten();
  spoil(spoilt);
  const reply = await takeOver(anExchange(JSON.stringify([spoilt, aWritten()])));
  expect(reply).toMatchObject({ status: 200, body: '{"failed":[0]}' });
  expect(writes).toBe(1);
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
