// Ingestion of a PostgreSQL table: throughput against COPY of the same rows, and latency of banners/sync in the meantime.
//   PLACARD_BENCH_ROWS   number of rows (default 1,000,000)
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { startPostgres } from '../helpers/postgres-server.ts';
import { ms, times } from './load/figures.ts';
import { fillWithUsers } from './load/fill.ts';
import { fillPostgresWithUsers } from './load/fill-postgres.ts';
import { startServer } from './load/processes.ts';
import { SYNC_WORKSPACE, syncRequest } from './load/sync-workspace.ts';
import type { Bench, Row } from './row.ts';

const ROWS = Number(process.env['PLACARD_BENCH_ROWS'] ?? 1_000_000);
const USERS = 10_000;
/** Requests per second whose latency is measured. */
const RATE = 100;
const ALONE_SECONDS = 10;
const ID = 'events';
const PASSWORD = 'PLACARD_BENCH_SOURCE_PASSWORD';

const rowsPerSecond = (rate: number) => `${Math.round(rate).toLocaleString('en-US')} rows/s`;
const getP99 = (waits: number[]) => waits.toSorted((a, b) => a - b)[Math.floor(waits.length * 0.99)] ?? 0;

/** Syncs at a steady rate until aborted; returns the latencies in milliseconds. */
const watch = async (port: number, over: AbortSignal): Promise<number[]> => {
  const waits: number[] = [];
  const asked: Promise<void>[] = [];
  const ask = async (user: number) => {
    const [, body = ''] = syncRequest(user).toString().split('\r\n\r\n');
    const started = performance.now();
    const response = await fetch(`http://127.0.0.1:${port}/v1/device-messaging/banners/sync`, {
      method: 'POST',
      headers: { Authorization: 'Bearer bench-client-key', 'Content-Type': 'application/json' },
      body,
    });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`banners/sync answered ${response.status}`);
    waits.push(performance.now() - started);
  };
  const started = performance.now();
  while (!over.aborted) {
    // Sends by the clock, so that a late response delays no request.
    while (asked.length < ((performance.now() - started) * RATE) / 1_000)
      asked.push(ask(asked.length % USERS));
    await pause(2);
  }
  await Promise.all(asked);
  return waits;
};

/** Fills a table; returns the rows per second of `COPY`. */
const fillSource = async (url: string, folder: string): Promise<number> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(
    `CREATE TABLE events (id bigint PRIMARY KEY, external_id text, updated_at timestamptz, payload jsonb)`,
  );
  await client.query(
    `INSERT INTO events SELECT id, 'u-' || id % ${USERS}, '2026-03-01 10:00:00+00'::timestamptz + id * interval '1 millisecond',
       jsonb_build_object('name', 'viewed', 'time', '2026-03-01T10:00:00Z', 'properties', jsonb_build_object('id', id, 'page', 'home'))
     FROM generate_series(1, ${ROWS}) AS id`,
  );
  await client.query('CREATE INDEX ON events (updated_at)');
  await client.query('CREATE TABLE copied (LIKE events INCLUDING ALL)');
  const file = join(folder, 'events.copy');
  await client.query(`COPY events TO '${file}'`);
  const started = performance.now();
  await client.query(`COPY copied FROM '${file}'`);
  const seconds = (performance.now() - started) / 1_000;
  await client.end();
  return ROWS / seconds;
};

const measure = async (
  store: string,
  database: string,
  source: URL,
  folder: string,
  copyRate: number,
): Promise<Row[]> => {
  const url = new URL(source);
  url.password = '';
  const integration = {
    integration_id: ID,
    source: {
      kind: 'postgres',
      url: url.href,
      password_env: PASSWORD,
      table: 'events',
      rows: 'events',
      key: 'id',
    },
  };
  const file = join(folder, 'workspace.json');
  const server = SYNC_WORKSPACE.api_keys as unknown[];
  const permissions = ['cdi.integration_sync', 'cdi.integration_job_status'];
  const api_keys = [...server, { type: 'server', key: 'bench-ingest-key', permissions }];
  const limits = {
    ...(SYNC_WORKSPACE.limits as object),
    cdi_integrations: { requests: 100_000, window_seconds: 60 },
  };
  writeFileSync(file, JSON.stringify({ ...SYNC_WORKSPACE, api_keys, limits, integrations: [integration] }));
  const service = await startServer('./ingest-service-process.ts', [database, file], {
    [PASSWORD]: decodeURIComponent(source.password),
  });
  const call = async (method: string, path: string) => {
    const headers = { Authorization: 'Bearer bench-ingest-key' };
    const response = await fetch(`http://127.0.0.1:${service.port}/cdi/integrations/${ID}/${path}`, {
      method,
      headers,
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response.json();
  };
  const watchFor = async (work: () => Promise<void>): Promise<number> => {
    const over = new AbortController();
    const waits = watch(service.port, over.signal);
    await work();
    over.abort();
    return getP99(await waits);
  };
  try {
    await watchFor(() => pause(3_000));
    const alone = await watchFor(() => pause(ALONE_SECONDS * 1_000));
    let seconds = 0;
    const beside = await watchFor(async () => {
      await call('POST', 'sync');
      for (;;) {
        await pause(200);
        const [run] = (await call('GET', 'job_sync_status')).results;
        if (!run?.sync_finish_time) continue;
        if (run.rows_synced !== ROWS) throw new Error(`the run ended with ${JSON.stringify(run)}`);
        seconds = (Date.parse(run.sync_finish_time) - Date.parse(run.sync_start_time)) / 1_000;
        return;
      }
    });
    return [
      {
        what: `${ROWS.toLocaleString('en-US')} events from PostgreSQL into ${store}, beside ${RATE} syncs a second`,
        figure: rowsPerSecond(ROWS / seconds),
        floor: `${rowsPerSecond(copyRate)} by COPY`,
        ratio: times(ROWS / seconds / copyRate),
      },
      {
        what: 'p99 of banners/sync during the ingestion',
        figure: ms(beside),
        floor: `${ms(alone)} alone`,
        ratio: times(beside / alone),
        target: '≤ 2 ×',
      },
    ];
  } finally {
    await service.stop();
  }
};

const ingestion = async (): Promise<Row[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'placard-bench-ingest-'));
  // The source's server may run as another user.
  chmodSync(folder, 0o777);
  const postgres = await startPostgres([]);
  try {
    const source = new URL(await postgres.createDatabase());
    const copyRate = await fillSource(source.href, folder);
    const sqlite = join(folder, 'bench.db');
    await fillWithUsers(sqlite, USERS);
    const ofSqlite = await measure('SQLite', sqlite, source, folder, copyRate);
    const database = await postgres.createDatabase();
    await fillPostgresWithUsers(database, USERS);
    return [...ofSqlite, ...(await measure('PostgreSQL', database, source, folder, copyRate))];
  } finally {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

export const benches: Bench[] = [{ name: 'service-ingestion', run: ingestion }];
