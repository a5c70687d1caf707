import { expect, onTestFinished, test } from 'vitest';
import { batchStatements, FEED_START, openStore } from '../../../src/service/index.ts';
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
  const { run } = (await store.ingestion.acquireLease({
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
    userIdentifier: 'external_id:u-1',
    updatedAtUs: 1_772_000_000_000_000,
    reason: 'EMAIL_BAD_FORMAT',
    payload: '{"EXTERNAL_ID":"u-1"}',
    storedRows: [],
  };
  await store.write({
    workspaceId: 'test',
    lookups: [],
    nowMs: 1,
    apply: () => undefined,
    extraStatements: batchStatements({
      run: done,
      watermark: null,
      dedupeSinceUs: null,
      storedRows: [],
      rejects: [reject],
      closedRejectIds: [],
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

test('shows integrations and runs to every role, and rows and keys only to operators who may view users', async () => {
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

test('accepts one run request at a time from a publisher, and logs it in the audit log', async () => {
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

const aStudioWithWebhooks = async () => {
  const store = await openStore(':memory:');
  const url = 'https://hooks.example/secret-path';
  const studio = await runStudio(
    aStudioWorkspace({
      webhooks: [
        { webhook_id: 'crm', name: 'CRM', url, event_types: ['users.messages.banner.Click'] },
        { webhook_id: 'later', url },
        { webhook_id: 'paused', url, paused: true },
      ],
    }),
    { store },
  );
  onTestFinished(() => studio.stop());
  const nowMs = studio.clock.now;
  const claim = {
    workspaceId: 'test',
    webhookId: 'crm',
    runId: 'run',
    nowMs,
    leaseMs: 1_000,
    start: FEED_START,
  };
  const state = (await store.webhooks.acquireLease(claim))!;
  const failing = { failures: 2, failingSinceMs: nowMs - 5_000, nextAttemptMs: nowMs + 60_000 };
  await store.webhooks.save({ ...state, ...failing });
  await store.webhooks.addAttempt(state, {
    attemptId: '2026-03-02T08:59:55.000Z a',
    messageId: 'msg_1',
    after: FEED_START,
    through: FEED_START,
    events: 4,
    attemptedAtMs: nowMs - 5_000,
    durationMs: 12,
    status: 503,
    error: 'http_503',
  });
  return { studio, store };
};

test('shows webhooks and attempts to every role, without receiver paths', async () => {
  const { studio } = await aStudioWithWebhooks();
  const cookie = await studio.signIn('Vera');
  const { body } = await studio.call('GET', '/api/webhooks', { cookie });
  expect(body.webhooks).toMatchObject([
    {
      id: 'crm',
      name: 'CRM',
      host: 'hooks.example',
      eventTypes: ['users.messages.banner.Click'],
      status: 'failing',
      failures: 2,
      nextAttempt: '2026-03-02T09:01:00.000Z',
      deliveredThrough: '0-0-0',
    },
    { id: 'later', name: 'later', status: 'waiting', deliveredThrough: null },
    { id: 'paused', status: 'paused' },
  ]);
  expect(JSON.stringify(body)).not.toContain('secret-path');
  expect((await studio.call('GET', '/api/webhooks/crm', { cookie })).body).toEqual({
    attempts: [
      {
        id: '2026-03-02T08:59:55.000Z a',
        messageId: 'msg_1',
        isTest: false,
        at: '2026-03-02T08:59:55.000Z',
        events: 4,
        tookMs: 12,
        status: 503,
        error: 'http_503',
      },
    ],
    isPending: false,
  });
  expect(await studio.call('GET', '/api/webhooks/other', { cookie })).toMatchObject({ status: 404 });
});

test('lets publishers test, resend, replay and resume webhooks, and logs it in the audit log', async () => {
  const { studio, store } = await aStudioWithWebhooks();
  const send = async (operator: string, action: string, body?: object, id = 'crm') =>
    (
      await studio.call('POST', `/api/webhooks/${id}/${action}`, {
        cookie: await studio.signIn(operator),
        body,
      })
    ).status;
  const state = () => store.webhooks.state('test', 'crm');
  const since = { since: '2026-03-01T09:00:00+01:00' };
  for (const [action, body] of [
    ['test', undefined],
    ['resend', { messageId: 'msg_1' }],
    ['replay', since],
    ['resume', undefined],
  ] as const)
    expect(await send('Ed', action, body)).toBe(403);
  expect(await send('Pia', 'test')).toBe(202);
  const queued = (await state())!;
  expect(queued.resendMessageId).toMatch(/^test_/);
  expect(await send('Pia', 'resend', { messageId: 'msg_1' })).toBe(409);
  await store.webhooks.finishResend(queued, queued.resendMessageId!);
  expect(await send('Pia', 'resend', { messageId: 'msg_2' })).toBe(404);
  expect(await send('Pia', 'resend', { messageId: 'msg_1' })).toBe(202);
  expect((await state())?.resendMessageId).toBe('msg_1');
  expect(await send('Pia', 'replay', { since: 'yesterday' })).toBe(400);
  expect(await send('Pia', 'replay', since)).toBe(202);
  expect(await state()).toMatchObject({ runId: '', failures: 0, deliveredThrough: FEED_START });
  expect(await send('Pia', 'resume')).toBe(202);
  for (const id of ['later', 'paused']) expect(await send('Pia', 'test', undefined, id)).toBe(409);
  const audit = await studio.call('GET', '/api/audit', { cookie: await studio.signIn('Ada') });
  expect(audit.body.entries.map(({ action }: { action: string }) => action)).toEqual(
    expect.arrayContaining(['webhook.test', 'webhook.resend', 'webhook.replay', 'webhook.resume']),
  );
});
