import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ExportKind, exportLines, openStore, type Store } from '../../../src/service/index.ts';
import { HAND_OVER_PATH } from '../../../src/service/replicas/outcome.ts';
import { TRACK_FORMAT } from '../../../src/service/replicas/track-text.ts';
import type { Run } from '../../../src/service/store/postgres/statement.ts';
import { aWorkspace } from '../../helpers/a-workspace.ts';
import { freePort } from '../../helpers/free-port.ts';
import { aDatabase, runBeside } from '../../helpers/postgres.ts';
import fc from '../../helpers/property.ts';
import { asServer, type RunningService, runService } from '../../helpers/running-service.ts';
import { collect } from '../store/contract.ts';

const TIME = '2026-02-01T00:00:00Z';
const workspace = aWorkspace({ limits: { users_track: { requests: 1_000_000, window_seconds: 1 } } });

let url: string;
let cleanups: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  url = await aDatabase();
});
afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

const aReplica = async (options: Parameters<typeof runService>[1] = {}): Promise<RunningService> => {
  const replica = await runService([workspace], { store: await openStore(url), ...options });
  cleanups.push(replica.stop);
  return replica;
};

const metric = async (replica: RunningService, name: string): Promise<number> => {
  const { body } = await replica.call('GET', '/metrics');
  const line = String(body)
    .split('\n')
    .find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length) ?? 0);
};
/** Replicas ask each other every second who is there. */
const PATIENT = { timeout: 20_000 };

const handedOver = (replica: RunningService, fate: string) =>
  metric(replica, `placard_handed_over_total{fate="${fate}"}`);

const haveMet = (replicas: RunningService[]) =>
  expect
    .poll(() => Promise.all(replicas.map((replica) => metric(replica, 'placard_replicas'))), PATIENT)
    .toEqual(replicas.map(() => replicas.length));

const replicas = async (count: number): Promise<RunningService[]> => {
  const all = await Promise.all(Array.from({ length: count }, () => aReplica()));
  await haveMet(all);
  return all;
};

const track = (replica: RunningService, body: unknown) =>
  replica.call('POST', '/users/track', { ...asServer, body });

/** One object of each kind for each user. */
const aBody = (users: string[], n: number) => ({
  attributes: users.map((external_id) => ({ external_id, requests: { inc: 1 }, last: n })),
  events: users.map((external_id) => ({ external_id, name: 'seen', time: TIME, properties: { n } })),
});

const lines = async (store: Store, kind: ExportKind) => {
  const rows = (await collect(exportLines(store, kind, 'test'))) as Record<string, unknown>[];
  // The IDs are drawn, and so is the order of users who were made at once.
  return rows.map(({ braze_id: _, ...rest }) => JSON.stringify(rest)).toSorted();
};

test.each([2, 3])('whichever of %i replicas is asked, each user gets everything once', async (count) => {
  const all = await replicas(count);
  const users = Array.from({ length: 30 }, (_, i) => `u-${i}`);
  const rounds = 60;
  const answers = await Promise.all(
    Array.from({ length: rounds }, (_, n) => track(all[n % count]!, aBody(users, n))),
  );
  for (const { status, body } of answers) {
    expect({ status, body }).toEqual({
      status: 201,
      body: { message: 'success', attributes_processed: 30, events_processed: 30 },
    });
  }
  const profiles = await collect(all[0]!.store.exportUsers('test'));
  expect(profiles.map(({ custom, events }) => [custom['requests'], events['seen']?.count])).toEqual(
    users.map(() => [rounds, rounds]),
  );
  expect(await collect(all[0]!.store.exportEvents('test'))).toHaveLength(rounds * users.length);
  for (const replica of all) {
    expect(await handedOver(replica, 'stored')).toBeGreaterThan(rounds / count / 2);
    expect(await handedOver(replica, 'in_doubt')).toBe(0);
  }
});

describe('what is stored', () => {
  const user = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
  const identity = fc.oneof(
    { weight: 8, arbitrary: user.map((external_id) => ({ external_id })) },
    {
      weight: 2,
      arbitrary: user.map((external_id) => ({ external_id, email: `${external_id}@example.org` })),
    },
    { weight: 1, arbitrary: user.map((name) => ({ email: `${name}@example.org` })) },
    {
      weight: 1,
      arbitrary: user.map((alias_name) => ({ user_alias: { alias_name, alias_label: 'l' } })),
    },
  );
  const value = fc.oneof(
    fc.record({ inc: fc.integer({ min: -5, max: 5 }) }),
    fc.string({ unit: 'binary', maxLength: 5 }),
    fc.record({ add: fc.array(fc.string({ maxLength: 3 }), { maxLength: 3 }) }),
    fc.record({ $add: fc.array(fc.record({ k: fc.integer() }), { maxLength: 2 }) }),
    fc.constantFrom('unsubscribed', null, true, -0, 1.5, { deep: { er: 1 } }, { $time: TIME }, [1, 'a'], {
      bad: [[]],
    }),
  );
  const name = fc.constantFrom('x', 'y', '__proto__', 'constructor', 'email_subscribe', 'first_name');
  const request = fc.record({
    replica: fc.nat({ max: 1 }),
    attributes: fc.array(
      fc.tuple(identity, fc.dictionary(name, value)).map(([who, what]) => ({ ...who, ...what })),
      { maxLength: 6 },
    ),
    events: fc.array(
      fc
        .tuple(identity, fc.dictionary(name, value))
        .map(([who, properties]) => ({ ...who, name: 'e', time: TIME, properties })),
      { maxLength: 6 },
    ),
    purchases: fc.array(
      identity.map((who) => ({ ...who, product_id: 'p', currency: 'EUR', price: 1.5, time: TIME })),
      { maxLength: 3 },
    ),
  });

  test('is what one service stores in SQLite, for random requests', async () => {
    const both = await replicas(2);
    const store = await openStore(':memory:');
    const alone = await runService([workspace], { store });
    cleanups.push(alone.stop);
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 8 }), async (requests) => {
        for (const { replica, ...body } of requests) {
          // Each request a second later: of what came at once nobody was last.
          for (const { clock } of [...both, alone]) clock.now += 1_000;
          const expected = await track(alone, body);
          const answer = await track(both[replica]!, body);
          expect(answer.status).toBe(expected.status);
          expect(answer.body).toEqual(expected.body);
        }
        expect(await lines(both[0]!.store, 'users')).toEqual(await lines(store, 'users'));
      }),
      { numRuns: 40 },
    );
    for (const kind of ['events', 'data-points'] as const) {
      expect(await lines(both[0]!.store, kind)).toEqual(await lines(store, kind));
    }
    // Of so few users all may belong to the same one, once in 32 times; then the other hands all of them over.
    const handed = await Promise.all(both.map((replica) => handedOver(replica, 'stored')));
    expect(handed[0]! + handed[1]!).toBeGreaterThan(0);
  }, 60_000);
});

test('a replica that is stopped under load costs nobody an answer', async () => {
  const [first, second] = await replicas(2);
  const statuses: number[] = [];
  const isOver = new Set<RunningService>();
  const writers = [first!, second!, first!, second!].map(async (replica, writer) => {
    for (let n = 0; !isOver.has(replica); n += 1) {
      const users = Array.from({ length: 5 }, (_, i) => `u-${(writer + n * 3 + i) % 40}`);
      statuses.push((await track(replica, aBody(users, n))).status);
    }
  });
  for (const replica of [first!, second!]) {
    await expect.poll(() => handedOver(replica, 'stored'), PATIENT).toBeGreaterThan(20);
  }
  // A balancer sends it no more, but what is under way goes on.
  isOver.add(second!);
  await second!.stop();
  await expect.poll(() => metric(first!, 'placard_replicas'), PATIENT).toBe(1);
  const before = statuses.length;
  await expect.poll(() => statuses.length, PATIENT).toBeGreaterThan(before + 20);
  isOver.add(first!);
  await Promise.all(writers);
  expect(statuses.filter((status) => status !== 201)).toEqual([]);
  expect(await collect(first!.store.exportEvents('test'))).toHaveLength(statuses.length * 5);
}, 90_000);

/** As a replica does that was last heard of so long ago. */
const announce = (run: Run, id: string, at: string, age: string) =>
  run(
    `INSERT INTO replicas (replica_id, url, token, machine, format, seen_at)
    VALUES ($1, $2, 'secret', $3, $4, now() - $5::interval)`,
    [id, at, hostname(), TRACK_FORMAT, age],
  );

describe('where another replica', { timeout: 60_000 }, () => {
  /** For as long as the test takes. */
  const aNeighbourAt = (at: string) => announce(runBeside(url), 'other', at, '-1 hour');
  // So many that some of them surely belong to the other.
  const users = Array.from({ length: 35 }, (_, i) => `u-${i}`);

  test('cannot be reached, its users are served here, and one line tells of it', async () => {
    const replica = await aReplica();
    await aNeighbourAt(`http://127.0.0.1:${await freePort()}`);
    await expect.poll(() => metric(replica, 'placard_replicas'), PATIENT).toBe(2);
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => track(replica, aBody(users, n))));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(await collect(replica.store.exportEvents('test'))).toHaveLength(10 * users.length);
    expect(await handedOver(replica, 'not_taken')).toBeGreaterThan(0);
    const told = replica.lines.filter(({ message }) => message === 'another replica is avoided for a while');
    expect(told).toEqual([expect.objectContaining({ level: 'info', error: 'NotTakenError' })]);
  });

  test('ends before it answers, the request is answered 504, and the next ones are served here', async () => {
    const server = createServer((request) => request.socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => new Promise((resolve) => server.close(resolve)));
    const replica = await aReplica();
    await aNeighbourAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await expect.poll(() => metric(replica, 'placard_replicas'), PATIENT).toBe(2);
    const first = await track(replica, aBody(users, 0));
    expect(first).toMatchObject({ status: 504, body: { message: 'Gateway Timeout' } });
    expect(await handedOver(replica, 'in_doubt')).toBe(1);
    expect(replica.lines).toContainEqual(
      expect.objectContaining({ level: 'warn', message: 'another replica did not answer' }),
    );
    expect((await track(replica, aBody(users, 1))).status).toBe(201);
  });
});

test('nobody else may hand over, or learn that it is possible', async () => {
  const [replica] = await replicas(2);
  const unknown = await replica!.call('POST', '/replicas/nothing', { ...asServer, body: [] });
  for (const key of [undefined, 'secret', replica!.serverKey]) {
    const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const answer = await replica!.call('POST', HAND_OVER_PATH, { headers, body: [] });
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual(unknown.body);
    expect([...answer.headers.keys()]).toEqual([...unknown.headers.keys()]);
  }
});

describe('where it is reached', () => {
  const announced = async () =>
    (await runBeside(url)('SELECT url FROM replicas')).map((row) => row['url'] as string);

  test('is where it listens, until it stops', async () => {
    const replica = await aReplica();
    expect(await announced()).toEqual([replica.url]);
    await replica.stop();
    expect(await announced()).toEqual([]);
  });

  test('cannot be known of one that listens on every address', async () => {
    const replica = await aReplica({ listen: { host: '0.0.0.0' } });
    expect(await announced()).toEqual([]);
    expect((await track(replica, aBody(['u-1'], 1))).status).toBe(201);
  });

  test('can be said', async () => {
    await aReplica({ listen: { host: '0.0.0.0', peerUrl: 'http://10.0.0.5:8787' } });
    expect(await announced()).toEqual(['http://10.0.0.5:8787']);
  });
});

test('who has said nothing for five seconds is no replica any more', async () => {
  const replica = await aReplica();
  const run = runBeside(url);
  await announce(run, 'late', 'http://10.0.0.5:8787', '6 seconds');
  await announce(run, 'forgotten', 'http://10.0.0.5:8787', '2 hours');
  // It has said once more that it is there.
  await expect.poll(async () => (await run('SELECT 1 FROM replicas')).length, PATIENT).toBe(2);
  expect(await metric(replica, 'placard_replicas')).toBe(1);
});
