import { expect, onTestFinished, test } from 'vitest';
import { batchStatements, openStore } from '../../../src/service/index.ts';
import { aStudioWorkspace, runStudio } from '../../helpers/running-studio.ts';

const SOURCE = { kind: 'csv', files: 'crm.csv', rows: 'attributes', columns: { PLAN: 'plan' } };

const aStudio = async () => {
  const store = await openStore(':memory:');
  const studio = await runStudio(
    aStudioWorkspace({
      integrations: [
        { integration_id: 'crm', integration_name: 'Customers', source: SOURCE, schedule: '0 4 * * *' },
        { integration_id: 'paused', source: SOURCE, schedule: 'paused' },
        { integration_id: 'listed', last_job_status: 'Success' },
      ],
    }),
    { store },
  );
  onTestFinished(() => studio.stop());
  const run = (await store.ingestion.claim({
    workspaceId: 'test',
    integrationId: 'crm',
    state: null,
    trigger: 'schedule',
    nowMs: studio.clock.now - 10_000,
    leaseMs: 1_000,
  }))!;
  const done = { ...run, rowsSynced: 4, rowsFailed: 1, watermarkUs: 1_772_000_000_000_000 };
  const reject = {
    rejectId: 'key:u-1',
    kind: 'invalid' as const,
    key: 'u-1',
    userKey: 'external_id:u-1',
    updatedAtUs: 1_772_000_000_000_000,
    reason: 'EMAIL_BAD_FORMAT',
    payload: '{"EXTERNAL_ID":"u-1"}',
  };
  await store.write({
    workspaceId: 'test',
    lookups: [],
    nowMs: 1,
    apply: () => undefined,
    also: batchStatements({
      run: done,
      watermark: null,
      dedupeSinceUs: null,
      seen: [],
      rejects: [reject],
      settled: [],
      nowMs: studio.clock.now,
    }),
  });
  const message = 'Rows wait for a transaction';
  await store.ingestion.finish({
    ...done,
    status: 'partial',
    message,
    finishedAtMs: studio.clock.now - 8_000,
  });
  return studio;
};

test('everybody sees integrations and runs; rows and keys only those who may look at people', async () => {
  const studio = await aStudio();
  const viewer = await studio.signIn('Vera');
  const { body } = await studio.call('GET', '/api/integrations', { cookie: viewer });
  expect(body.integrations).toMatchObject([
    {
      id: 'crm',
      name: 'Customers',
      status: 'active',
      lastStatus: 'Partial',
      lastNote: 'Rows wait for a transaction',
      rejects: 1,
    },
    { id: 'paused', status: 'paused', lastNote: null, rejects: 0 },
    { id: 'listed', runs: false, lastStatus: 'Success' },
  ]);
  const seen = await studio.call('GET', '/api/integrations/crm', { cookie: viewer });
  expect(seen.body.runs).toMatchObject([{ status: 'partial', synced: 4, failed: 1, tookMs: 2_000 }]);
  expect(seen.body.rejects).toMatchObject([{ key: '', payload: null, reason: 'EMAIL_BAD_FORMAT' }]);
  const admin = await studio.signIn('Ada');
  const full = await studio.call('GET', '/api/integrations/crm', { cookie: admin });
  expect(full.body.rejects).toMatchObject([{ key: 'u-1', payload: '{"EXTERNAL_ID":"u-1"}' }]);
  expect(await studio.call('GET', '/api/integrations/listed', { cookie: admin })).toMatchObject({
    status: 404,
  });
});

test('a run is asked for by those who publish, once, and is in the audit', async () => {
  const studio = await aStudio();
  const sync = (cookie: string, id = 'crm') =>
    studio.call('POST', `/api/integrations/${id}/sync`, { cookie });
  expect(await sync(await studio.signIn('Ed'))).toMatchObject({ status: 403 });
  const publisher = await studio.signIn('Pia');
  expect(await sync(publisher)).toMatchObject({ status: 202 });
  expect(await sync(publisher)).toMatchObject({ status: 409 });
  expect(await sync(publisher, 'paused')).toMatchObject({ status: 409 });
  const audit = await studio.call('GET', '/api/audit', { cookie: await studio.signIn('Ada') });
  expect(audit.body.entries).toContainEqual(
    expect.objectContaining({ operator: 'Pia', action: 'integration.sync', subject: 'crm' }),
  );
});
