import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startIngestion } from '../../../src/ingestion/index.ts';
import { findCursor, parseLink } from '../../../src/protocol/index.ts';
import { createService, openStore, silentLog } from '../../../src/service/index.ts';
import { loadWorkspaces } from '../../../src/service/workspace/load-workspaces.ts';
import { aWorkspace, SERVER_KEY } from '../../helpers/a-workspace.ts';
import { patience } from '../../helpers/patience.ts';

/** Allows for a thread start on a busy machine. */
const PATIENCE = { timeout: patience(20_000), interval: 20 };
const T = '2026-03-01T10:00:00Z';

/** Service whose workspace file is in its own folder, with one CSV. */
const aService = async ({ runs = true } = {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'placard-runs-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const source = { kind: 'csv', files: 'crm.csv', rows: 'attributes', columns: { PLAN: 'plan' } };
  const content = aWorkspace({
    integrations: [
      { integration_id: 'a/b crm', source },
      { integration_id: 'nightly', source, schedule: '0 4 * * *', time_zone: 'Europe/Berlin' },
      { integration_id: 'paused', source, schedule: 'paused' },
      { integration_id: 'listed', integration_status: 'typed' },
    ],
    limits: { cdi_integrations: { requests: 10_000, window_seconds: 60 } },
  });
  const file = join(folder, 'workspace.json');
  writeFileSync(file, JSON.stringify(content));
  const csv = (text: string) =>
    writeFileSync(join(folder, 'crm.csv'), `EXTERNAL_ID,UPDATED_AT,PLAN\n${text}`);
  csv(`kim,${T},gold\nlee,soon,gold\n`);
  const registry = loadWorkspaces(file);
  const store = await openStore(':memory:');
  const service = createService({ workspaces: { registry: () => registry, stop: () => undefined }, store });
  const stop = runs
    ? startIngestion({ store, workspaces: () => registry.workspaces, log: silentLog, pollMs: 10 })
    : async () => undefined;
  onTestFinished(async () => {
    await stop();
    await service.close();
  });
  const call = async (method: string, path: string, key = SERVER_KEY) => {
    const response = await service.fetch(
      new Request(`http://service${path}`, { method, headers: { Authorization: `Bearer ${key}` } }),
    );
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  return { call, csv, store };
};

const SYNC = `/cdi/integrations/${encodeURIComponent('a/b crm')}/sync`;
const STATUS = `/cdi/integrations/${encodeURIComponent('a/b crm')}/job_sync_status`;

test('queues and executes a run on demand, and shows it in the list and the history', async () => {
  const { call } = await aService();
  expect(await call('POST', SYNC)).toMatchObject({ status: 202, body: { message: 'success' } });
  const run = await vi.waitFor(async () => {
    const { body } = await call('GET', STATUS);
    expect(body.results[0]?.job_status).toBe('Partial');
    return body.results[0];
  }, PATIENCE);
  expect(run).toEqual({
    job_status: 'Partial',
    sync_start_time: expect.stringMatching(/Z$/),
    sync_finish_time: expect.stringMatching(/Z$/),
    last_timestamp_synced: '2026-03-01T10:00:00.000000Z',
    rows_synced: 1,
    rows_failed_with_errors: 1,
    message: '',
  });
  await vi.waitFor(async () => {
    const { body } = await call('GET', '/cdi/integrations');
    const [demand, nightly, paused, listed] = body.results;
    expect(demand).toMatchObject({
      integration_status: 'active',
      integration_type: 'attributes',
      warehouse_type: 'csv',
      last_job_status: 'Partial',
      last_job_start_time: run.sync_start_time,
      last_updated_at: run.sync_finish_time,
      next_scheduled_run: '',
    });
    // An integration with a schedule runs immediately the first time.
    expect(nightly).toMatchObject({
      last_job_status: 'Partial',
      next_scheduled_run: expect.stringMatching(/T0[23]:00/),
    });
    expect(paused).toMatchObject({
      integration_status: 'paused',
      last_job_status: '',
      next_scheduled_run: '',
    });
    expect(listed).toMatchObject({ integration_status: 'typed' });
  }, PATIENCE);
});

test('rejects a second request, and one for an integration that cannot run', async () => {
  const { call } = await aService({ runs: false });
  expect((await call('POST', SYNC)).status).toBe(202);
  const again = await call('POST', SYNC);
  expect(again).toMatchObject({ status: 429, body: { message: 'Another job is in progress' } });
  expect(again.headers.get('retry-after')).toBe('1');
  expect(await call('POST', '/cdi/integrations/none/sync')).toMatchObject({ status: 404 });
  expect((await call('POST', '/cdi/integrations/listed/sync')).body.message).toMatch('no source');
  expect((await call('POST', '/cdi/integrations/paused/sync')).body.message).toMatch('paused');
  expect(await call('GET', '/cdi/integrations/none/job_sync_status')).toMatchObject({ status: 404 });
  expect(await call('GET', `${STATUS}?cursor=x`)).toMatchObject({ status: 400 });
  expect(await call('GET', SYNC)).toMatchObject({ status: 405 });
  expect(await call('POST', SYNC, 'wrong')).toMatchObject({ status: 401 });
  expect(await call('GET', '/cdi/integrations/a/b/sync')).toMatchObject({ status: 404 });
});

test('lists ten runs per page, newest first, with links in both directions', async () => {
  const { call, store } = await aService({ runs: false });
  for (let index = 0; index < 23; index += 1) {
    const [state = null] = (await store.ingestion.states('test')).filter(
      ({ integrationId }) => integrationId === 'a/b crm',
    );
    const lease = await store.ingestion.acquireLease({
      workspaceId: 'test',
      integrationId: 'a/b crm',
      state,
      trigger: 'schedule',
      nowMs: 1_000 + index,
      leaseMs: 10,
    });
    await store.ingestion.finish({
      ...lease!.run,
      status: 'success',
      rowsSynced: index,
      finishedAtMs: 2_000,
    });
  }
  const seen: number[] = [];
  for (let path: string | null = STATUS; path; ) {
    const { body, headers }: Awaited<ReturnType<typeof call>> = await call('GET', path);
    seen.push(...body.results.map(({ rows_synced }: { rows_synced: number }) => rows_synced));
    const next: string | undefined = parseLink(headers.get('link'))['next'];
    path = next ?? null;
    if (next) expect(findCursor(next, 'http://service')).toBeTruthy();
  }
  expect(seen).toEqual(Array.from({ length: 23 }, (_, index) => 22 - index));
});
