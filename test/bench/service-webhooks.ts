// Webhook delivery of a million rows to a receiver that fails, hangs and restarts, while the sender is killed ten times. Fails
// unless each row arrives at least once, under the ID that the stream has.
//   PLACARD_BENCH_ROWS   number of rows (default 1,000,000)
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { FEED_START, openStore, readEvents, type Store } from '../../src/service/index.ts';
import { aWorkspace } from '../helpers/a-workspace.ts';
import { aBannerEvent, recordBannerEvents } from '../helpers/banner-events.ts';
import { serveHandler } from '../helpers/http-server.ts';
import { startPostgres } from '../helpers/postgres-server.ts';
import { anEvent, byExternalId, NOW } from '../service/store/examples.ts';
import { times } from './load/figures.ts';
import type { Bench, Row } from './row.ts';

const PROCESS = fileURLToPath(new URL('../service/webhooks/webhook-process.ts', import.meta.url));
const ROWS = Number(process.env['PLACARD_BENCH_ROWS'] ?? 1_000_000);
const ROWS_PER_USER = 500;
const USERS = Math.ceil(ROWS / ROWS_PER_USER);
const KILLS = 10;
/** Kills after which the receiver restarts too. */
const RECEIVER_RESTARTS = new Set([3, 7]);
const WRITERS = 8;
/** Without a new row for this long, the run fails. */
const STALL_MS = 60_000;
/** Longer than the timeout of the sender. */
const HANG_MS = 600;
const WORKSPACE_ID = 'test';

const perSecond = (count: number, ms: number) =>
  `${Math.round((count * 1_000) / ms).toLocaleString('en-US')} rows/s`;

const fillUser = async (store: Store, user: number) => {
  const externalId = `u-${user}`;
  await store.write({
    workspaceId: WORKSPACE_ID,
    lookups: [byExternalId(externalId)],
    nowMs: NOW,
    apply(users) {
      const profile = users.create({ externalId }, NOW);
      for (let index = 0; index < ROWS_PER_USER - 2; index += 1)
        users.record(profile, anEvent(profile, `e-${index % 20}`));
    },
  });
  const events = [aBannerEvent(), aBannerEvent({ eventType: 'click' })];
  await recordBannerEvents(store, externalId, events, WORKSPACE_ID);
};

const fill = async (store: Store) => {
  let next = 0;
  const write = async () => {
    for (let user = next++; user < USERS; user = next++) await fillUser(store, user);
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
};

/** IDs of the stream. */
const readIds = async (feed: Store): Promise<Set<string>> => {
  const ids = new Set<string>();
  for (let after = FEED_START; ; ) {
    const page = await readEvents({
      feed,
      findWorkspace: () => undefined,
      after,
      limit: 1_000,
      workspaceId: WORKSPACE_ID,
    });
    if (page.rows === 0) return ids;
    for (const { id } of page.events) ids.add(id);
    after = page.next;
  }
};

/** A receiver that responds with 500, drops connections and hangs. Counts how often it accepted each ID. */
const startReceiver = async () => {
  const accepted = new Map<string, number>();
  const count = { requests: 0, failed: 0 };
  const server = await serveHandler(async (request) => {
    count.requests += 1;
    const fault = count.requests;
    const { events } = (await request.json()) as { events: { id: string }[] };
    if (fault % 7 === 1 || fault % 11 === 3) count.failed += 1;
    if (fault % 7 === 1) return new Response(null, { status: 500 });
    if (fault % 11 === 3) throw new Error('The connection is dropped');
    for (const { id } of events) accepted.set(id, (accepted.get(id) ?? 0) + 1);
    // The sender times out on rows that the receiver has stored.
    if (fault % 101 === 5) await pause(HANG_MS);
    return new Response(null, { status: 204 });
  });
  return { accepted, count, server };
};

const deliverAll = async (database: string, expected: number) => {
  const receiver = await startReceiver();
  const { accepted, count, server } = receiver;
  const webhook = { webhook_id: 'crm', url: `${server.origin}/hook`, from: 'start' };
  const workspace = JSON.stringify(aWorkspace({ webhooks: [webhook] }));
  const start = (): ChildProcess =>
    spawn(process.execPath, [PROCESS, database, workspace], { stdio: ['ignore', 'ignore', 'inherit'] });
  const arrive = async (rows: number) => {
    let seen = { rows: accepted.size, atMs: performance.now() };
    while (accepted.size < rows) {
      await pause(5);
      if (accepted.size > seen.rows) seen = { rows: accepted.size, atMs: performance.now() };
      if (performance.now() - seen.atMs > STALL_MS)
        throw new Error(
          `stalled at ${accepted.size} of ${expected} rows after ${count.requests} requests, ${count.failed} of which failed`,
        );
    }
  };
  const started = performance.now();
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const child = start();
    const exit = once(child, 'exit');
    await arrive(Math.floor((expected * kill) / (KILLS + 1)));
    child.kill('SIGKILL');
    await exit;
    if (!RECEIVER_RESTARTS.has(kill)) continue;
    await server.stop();
    await pause(1_000);
    await server.start();
  }
  const last = start();
  const exit = once(last, 'exit');
  await arrive(expected);
  const ms = performance.now() - started;
  last.kill('SIGKILL');
  await exit;
  await server.close();
  return { accepted, count, ms };
};

const measure = async (name: string, database: string): Promise<Row[]> => {
  const store = await openStore(database);
  await fill(store);
  const started = performance.now();
  const expected = await readIds(store);
  const readMs = performance.now() - started;
  await store.close();
  if (expected.size !== USERS * ROWS_PER_USER)
    throw new Error(`expected ${USERS * ROWS_PER_USER} IDs in the stream, got ${expected.size}`);
  const { accepted, count, ms } = await deliverAll(database, expected.size);
  const unknown = [...accepted.keys()].filter((id) => !expected.has(id));
  if (unknown.length > 0) throw new Error(`${unknown.length} IDs are not in the stream: ${unknown[0]}`);
  const total = [...accepted.values()].reduce((sum, arrivals) => sum + arrivals, 0);
  const deliveryRate = expected.size / ms;
  return [
    {
      what: `${expected.size.toLocaleString('en-US')} rows to a failing webhook receiver from ${name}, ${KILLS} kills`,
      figure: `${perSecond(expected.size, ms)}, ${Math.round(ms / 1_000)} s`,
      floor: `${perSecond(expected.size, readMs)} (reading the stream)`,
      ratio: times(deliveryRate / (expected.size / readMs)),
    },
    {
      what: 'Rows missing, and accepted more than once',
      figure: `0 and ${(total - expected.size).toLocaleString('en-US')}`,
      floor: `${count.requests.toLocaleString('en-US')} requests, ${count.failed.toLocaleString('en-US')} failed`,
      target: '0 missing',
    },
  ];
};

const onSqlite = async (): Promise<Row[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'placard-bench-webhooks-'));
  try {
    return await measure('SQLite', join(folder, 'bench.db'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const onPostgres = async (): Promise<Row[]> => {
  const postgres = await startPostgres([]);
  try {
    return await measure('PostgreSQL', await postgres.createDatabase());
  } finally {
    await postgres.stop();
  }
};

export const benches: Bench[] = [
  { name: 'service-webhooks-postgres', run: onPostgres },
  { name: 'service-webhooks-sqlite', run: onSqlite },
];
