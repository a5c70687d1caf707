import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { openStore } from '../../src/service/store/index.ts';
import { aWorkspace, SERVER_KEY } from '../helpers/a-workspace.ts';
import { aDatabase } from '../helpers/postgres.ts';
import { type ServiceProcess, startServiceProcess } from '../helpers/service-process.ts';
import { byExternalId, collect } from './store/examples.ts';
import { expectExactlyWhatWasSent, nothingSent, writeOn } from './store/writers.ts';

let cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

/** Round-robin load balancer. Responds with 502 for a replica that does not respond, and stops using it. */
const startBalancer = async (ports: number[]): Promise<string> => {
  let alive = [...ports];
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    turn += 1;
    const port = alive[turn % alive.length]!;
    const forwarded = request(
      { port, host: '127.0.0.1', method: incoming.method, path: incoming.url, headers: incoming.headers },
      (answer: IncomingMessage) => {
        outgoing.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(outgoing);
        answer.once('error', () => outgoing.destroy());
      },
    );
    forwarded.once('error', () => {
      alive = alive.filter((other) => other !== port);
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(502).end();
    });
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const startReplicas = async (
  database: string,
  workspace: Record<string, unknown>,
): Promise<ServiceProcess[]> => {
  // Started together, so that they migrate an empty database concurrently.
  const replicas = await Promise.all([
    startServiceProcess(database, { workspace }),
    startServiceProcess(database, { workspace }),
  ]);
  cleanups.push(() => Promise.all(replicas.map((replica) => replica.kill())));
  return replicas;
};

const many = { requests: 1_000_000, window_seconds: 1 };

test('stores each acknowledged write once if one of two replicas is killed under load', async () => {
  const database = await aDatabase();
  const replicas = await startReplicas(database, aWorkspace({ limits: { users_track: many } }));
  const url = await startBalancer(replicas.map(({ port }) => port));
  const sent = nothingSent();
  let isOver = false;
  // Sixteen writers of four users, so that they contend for the same rows.
  const writers = Array.from({ length: 16 }, (_, i) =>
    writeOn({ url: () => url, writer: i % 4, sent, isOver: () => isOver, goesOn: true }),
  );
  await expect.poll(() => sent.acknowledged.size).toBeGreaterThan(200);
  await replicas[0]!.kill();
  const before = sent.acknowledged.size;
  // The other replica continues.
  await expect.poll(() => sent.acknowledged.size).toBeGreaterThan(before + 200);
  isOver = true;
  await Promise.all(writers);
  const stored = await expectExactlyWhatWasSent(database, sent);
  console.log(
    `killed one of two: ${sent.acknowledged.size} acknowledged, ${sent.inDoubt.size} in doubt, ${stored} stored, 0 lost, 0 doubled`,
  );
});

test('shares a limit exactly between two replicas', async () => {
  const database = await aDatabase();
  // Windows start at multiples of their length, so this one does not end during the test, even at midnight.
  const limit = { requests: 50, window_seconds: 10_000_000_000 };
  const workspace = aWorkspace({ limits: { users_track: limit } });
  const replicas = await startReplicas(database, workspace);
  const url = await startBalancer(replicas.map(({ port }) => port));
  const track = (i: number) =>
    fetch(`${url}/users/track`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${SERVER_KEY}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ attributes: [{ external_id: `u-${i}` }] }),
    });
  const answers = await Promise.all(Array.from({ length: 120 }, (_, i) => track(i)));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 201)).toHaveLength(50);
  expect(statuses.filter((status) => status === 429)).toHaveLength(70);
  const store = await openStore(database);
  expect(await collect(store.exportUsers('test'))).toHaveLength(50);
  await store.close();
});

test('creates one user if two replicas receive the same new user at once', async () => {
  const database = await aDatabase();
  const workspace = aWorkspace({ limits: { users_track: many } });
  const replicas = await startReplicas(database, workspace);
  const track = (replica: number, attributes: unknown[]) =>
    fetch(`http://127.0.0.1:${replicas[replica]!.port}/users/track`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${SERVER_KEY}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ attributes }),
    });
  const identities = (i: number) => [
    { external_id: `u-${i}` },
    { email: `kim-${i}@example.org` },
    { phone: `+4812345${1_000 + i}` },
    { user_alias: { alias_name: `n-${i}`, alias_label: 'l' }, _update_existing_only: false },
  ];
  const rounds = 40;
  for (let i = 0; i < rounds; i += 1) {
    const answers = await Promise.all(
      identities(i).flatMap((identity) => [
        track(0, [{ ...identity, first: { inc: 1 } }]),
        track(1, [{ ...identity, second: { inc: 1 } }]),
      ]),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  }
  const store = await openStore(database);
  const users = await collect(store.exportUsers('test'));
  expect(users).toHaveLength(rounds * 4);
  expect(users.filter(({ custom }) => custom['first'] !== 1 || custom['second'] !== 1)).toEqual([]);
  expect(await store.readUsers('test', [byExternalId('u-7')])).toHaveLength(1);
  await store.close();
});
