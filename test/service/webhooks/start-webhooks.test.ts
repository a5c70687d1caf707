import { expect, onTestFinished, test, vi } from 'vitest';
import { cursorSince, FEED_START, formatCursor, readEvents, type Store } from '../../../src/service/index.ts';
import { createMetrics } from '../../../src/service/metrics/metrics.ts';
import { parseSecret, signedHeaders } from '../../../src/service/webhooks/sign.ts';
import { startWebhooks, type WebhooksOptions } from '../../../src/service/webhooks/start-webhooks.ts';
import { parseWorkspace } from '../../../src/service/workspace/parse-workspace.ts';
import { aWorkspace } from '../../helpers/a-workspace.ts';
import { patience } from '../../helpers/patience.ts';
import { recordingLog } from '../../helpers/running-service.ts';
import { anEvent, byExternalId } from '../store/examples.ts';
import { type Api, NOW, onBothStores } from '../users/on-both-stores.ts';
import { aReceiver, type Receiver } from './receiver.ts';

const SECRETS: Record<string, string> = {
  CURRENT: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  PREVIOUS: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  TOKEN: 'crm-token',
};
const PATIENCE = { timeout: patience(20_000), interval: 10 };

onBothStores('webhooks', (api, store) => {
  const track = (...names: string[]) =>
    api().track({
      events: names.map((name) => ({ external_id: `u-${name}`, name, time: new Date(NOW).toISOString() })),
    });
  const namesIn = (receiver: Receiver, list: 'delivered' | 'failed' = 'delivered') =>
    receiver[list].flatMap(({ events }) => events.map(({ user }) => user.external_user_id));

  /** Delivers to a receiver until the test ends, with its own clock. */
  const start = (
    receiver: Pick<Receiver, 'url'>,
    { webhook = {}, ...options }: Partial<WebhooksOptions> & { webhook?: Record<string, unknown> } = {},
    { workspaceId }: Api = api(),
  ) => {
    const workspace = parseWorkspace(
      aWorkspace({
        workspace_id: workspaceId,
        webhooks: [{ webhook_id: 'crm', url: receiver.url, from: 'start', ...webhook }],
      }),
    );
    const lines: Record<string, unknown>[] = [];
    const clock = { now: NOW };
    const metrics = createMetrics({ isEditRejected: () => false });
    const stop = startWebhooks({
      store: store(),
      workspaces: () => [workspace],
      readSecret: (variable) => SECRETS[variable],
      privateHosts: new Set(['127.0.0.1']),
      log: recordingLog(lines),
      onAttempt: metrics.webhookAttempt,
      now: () => clock.now,
      pollMs: 5,
      ...options,
    });
    onTestFinished(stop);
    /** Values of the metrics of webhooks, by name and outcome. */
    const readMetrics = async () => {
      const options = { workspaces: [workspace], store: store(), nowMs: clock.now, isPrivate: false };
      const values = await metrics.values(options);
      return Object.fromEntries(
        values
          .filter(({ name }) => name.startsWith('placard_webhook_'))
          .flatMap(({ name, values: all }) =>
            all.map(({ labels, value }) => [
              [name.slice('placard_webhook_'.length), labels['outcome']].filter(Boolean).join(' '),
              value,
            ]),
          ),
      );
    };
    return { stop, lines, clock, readMetrics };
  };
  const state = async () =>
    (await store().webhooks.states(api().workspaceId)).find(({ webhookId }) => webhookId === 'crm');
  const attempts = () => store().webhooks.attempts(api().workspaceId, 'crm', 100);
  const until = (check: () => Promise<void> | void) => vi.waitFor(check, PATIENCE);

  test('deliver signed events of the chosen types', async () => {
    const receiver = await aReceiver();
    start(receiver, {
      webhook: {
        secret_env: 'CURRENT',
        previous_secret_env: 'PREVIOUS',
        token_env: 'TOKEN',
        event_types: ['users.behaviors.CustomEvent'],
      },
    });
    await track('one');
    await api().track({
      purchases: [
        {
          external_id: 'u-one',
          product_id: 'cup',
          price: 1,
          currency: 'EUR',
          time: new Date(NOW).toISOString(),
        },
      ],
    });
    await track('two');
    await until(() => expect(namesIn(receiver)).toEqual(['u-one', 'u-two']));
    const { headers, body, messageId } = receiver.delivered[0]!;
    const keys = [SECRETS['CURRENT']!, SECRETS['PREVIOUS']!].map(parseSecret);
    const signed = signedHeaders(keys, { id: messageId, timestamp: Math.floor(NOW / 1_000), body });
    expect(Object.fromEntries(headers)).toMatchObject({
      ...signed,
      authorization: 'Bearer crm-token',
      'content-type': 'application/json',
    });
    expect(receiver.delivered[0]!.events[0]).toMatchObject({
      event_type: 'users.behaviors.CustomEvent',
      time: Math.floor(NOW / 1_000),
      time_ms: NOW,
      properties: { app_group_id: api().workspaceId, name: 'one', custom_properties: {} },
    });
  });

  test('deliver CloudEvents as a batch', async () => {
    const receiver = await aReceiver();
    start(receiver, { webhook: { format: 'cloudevents' } });
    await track('one');
    await until(() => expect(receiver.delivered).toHaveLength(1));
    const { headers, body } = receiver.delivered[0]!;
    expect(headers.get('content-type')).toBe('application/cloudevents-batch+json; charset=UTF-8');
    expect(JSON.parse(body)).toEqual([
      {
        specversion: '1.0',
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        source: `urn:placard:workspace:${api().workspaceId}`,
        type: 'placard.user.custom_event',
        subject: 'u-one',
        time: new Date(NOW).toISOString(),
        datacontenttype: 'application/json',
        data: expect.objectContaining({ event_type: 'users.behaviors.CustomEvent' }),
      },
    ]);
  });

  test('send alerts once to a webhook that subscribes to them, and report their resolution', async () => {
    const receiver = await aReceiver();
    const everything = await aReceiver();
    const alert = {
      id: 'no_impressions:spring',
      type: 'no_impressions',
      subjectId: 'spring',
      subjectName: 'Spring',
      message: 'It had no impressions.',
    } as const;
    let alerts: (typeof alert)[] = [alert];
    const readAlerts = async () => alerts;
    receiver.answer = () => new Response(null, { status: receiver.failed.length === 0 ? 500 : 204 });
    const retry = { readAlerts, alertsMs: 0, retryDelay: () => 0 };
    const first = start(receiver, { webhook: { event_types: ['placard.alert'] }, ...retry });
    await until(() => expect(receiver.delivered).toHaveLength(1));
    expect(receiver.delivered[0]).toMatchObject({ messageId: receiver.failed[0]!.messageId });
    expect(receiver.delivered[0]!.events).toEqual(receiver.failed[0]!.events);
    expect(receiver.delivered[0]!.events).toEqual([
      {
        event_type: 'placard.alert',
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        time: Math.floor(NOW / 1_000),
        time_ms: NOW,
        properties: {
          app_group_id: api().workspaceId,
          alert_id: 'no_impressions:spring',
          alert_type: 'no_impressions',
          status: 'firing',
          message: 'It had no impressions.',
          campaign_id: 'spring',
          campaign_name: 'Spring',
        },
      },
    ]);
    // Another process continues from the stored state.
    await first.stop();
    alerts = [];
    start(receiver, { webhook: { event_types: ['placard.alert'], format: 'cloudevents' }, ...retry });
    await until(() => expect(receiver.delivered).toHaveLength(2));
    expect(JSON.parse(receiver.delivered[1]!.body)).toMatchObject([
      { type: 'placard.alert', data: { properties: { status: 'resolved' } } },
    ]);
    await until(async () => expect((await state())?.alerts).toEqual([]));
    alerts = [alert];
    start(everything, { webhook: { webhook_id: 'all' }, ...retry });
    await track('one');
    await until(() => expect(namesIn(everything)).toEqual(['u-one']));
  });

  test('start with new rows unless the workspace file specifies the start', async () => {
    const receiver = await aReceiver();
    await track('before');
    start(receiver, { webhook: { from: 'now' } });
    await until(async () => expect(await state()).toBeDefined());
    await track('after');
    await until(() => expect(namesIn(receiver)).toEqual(['u-after']));
  });

  test('retry under the same ID, no earlier than Retry-After', async () => {
    const receiver = await aReceiver();
    receiver.answer = () => new Response(null, { status: 503, headers: { 'Retry-After': '600' } });
    const { clock, lines } = start(receiver);
    await track('one');
    await until(() => expect(receiver.failed).toHaveLength(1));
    await until(async () => expect((await state())?.nextAttemptMs).toBe(NOW + 600_000));
    receiver.answer = () => new Response(null, { status: 200 });
    clock.now = NOW + 599_999;
    await track('two');
    const looks = vi.spyOn(store().webhooks, 'state');
    await until(() => expect(looks.mock.calls.length).toBeGreaterThan(5));
    expect(receiver.delivered).toEqual([]);
    clock.now = NOW + 600_000;
    await until(() => expect(namesIn(receiver)).toEqual(['u-one', 'u-two']));
    expect(receiver.delivered[0]!.messageId).toBe(receiver.failed[0]!.messageId);
    expect(receiver.delivered[1]!.messageId).not.toBe(receiver.failed[0]!.messageId);
    expect(lines).toContainEqual(expect.objectContaining({ message: 'webhook failed', error: 'http_503' }));
    const outcomes = async () =>
      (await attempts()).map(({ status, error, events }) => [status, error, events]);
    await until(async () =>
      expect(await outcomes()).toEqual([
        [200, null, 1],
        [200, null, 1],
        [503, 'http_503', 1],
      ]),
    );
  });

  test('are delivered while the receiver of another webhook does not respond', async () => {
    const [dead, alive] = [await aReceiver(), await aReceiver()];
    const response = Promise.withResolvers<Response>();
    dead.answer = () => response.promise;
    const webhooks = [dead, alive].map(({ url }, index) => ({
      webhook_id: `w-${index}`,
      url,
      from: 'start',
    }));
    const workspace = parseWorkspace(aWorkspace({ workspace_id: api().workspaceId, webhooks }));
    start(dead, { workspaces: () => [workspace], timeoutMs: 60_000 });
    await track('one');
    await until(() => expect(namesIn(alive)).toEqual(['u-one']));
    await track('two');
    await until(() => expect(namesIn(alive)).toEqual(['u-one', 'u-two']));
    expect(dead.delivered).toEqual([]);
    dead.answer = () => new Response(null, { status: 204 });
    response.resolve(new Response(null, { status: 204 }));
    await until(() => expect(namesIn(dead)).toEqual(['u-one', 'u-two']));
  });

  test('omit a user who is erased before the delivery', async () => {
    const receiver = await aReceiver();
    receiver.answer = () => new Response(null, { status: 500 });
    const { clock } = start(receiver);
    await track('stays', 'goes');
    await until(() => expect(receiver.failed).toHaveLength(1));
    expect(namesIn(receiver, 'failed')).toEqual(['u-stays', 'u-goes']);
    await api().post('/users/delete', { external_ids: ['u-goes'] });
    const [ledger] = await attempts();
    expect(JSON.stringify(ledger)).not.toContain('u-goes');
    receiver.answer = () => new Response(null, { status: 204 });
    clock.now += 10_000;
    await until(() => expect(receiver.delivered).toHaveLength(2));
    expect(receiver.delivered.map(({ events }) => events.map(({ event_type }) => event_type))).toEqual([
      ['users.behaviors.CustomEvent'],
      ['users.UserDeleteRequest'],
    ]);
    expect(namesIn(receiver)).toEqual(['u-stays', null]);
  });

  test('stop at 410, and continue at the same position when resumed', async () => {
    const receiver = await aReceiver();
    receiver.answer = () => new Response(null, { status: 410 });
    const { lines } = start(receiver);
    await track('one');
    await until(async () => expect((await state())?.disabledReason).toBe('http_410'));
    expect(lines).toContainEqual(expect.objectContaining({ message: 'webhook disabled', level: 'error' }));
    await track('two');
    receiver.answer = () => new Response(null, { status: 204 });
    expect(await store().webhooks.resume(api().workspaceId, 'crm')).toBe(true);
    await until(() => expect(namesIn(receiver)).toEqual(['u-one', 'u-two']));
  });

  test('are disabled after five days of failures', async () => {
    const receiver = await aReceiver();
    receiver.answer = () => new Response(null, { status: 500 });
    const { clock } = start(receiver);
    await track('one');
    await until(async () => expect((await state())?.failures).toBe(1));
    clock.now = NOW + 5 * 24 * 3_600_000;
    await until(async () => expect((await state())?.disabledReason).toBe('failing: http_500'));
  });

  test('reduce the batch size if a receiver rejects a message as too large', async () => {
    const receiver = await aReceiver();
    receiver.answer = ({ events }) => new Response(null, { status: events.length > 2 ? 413 : 204 });
    start(receiver);
    await track('a', 'b', 'c', 'd', 'e', 'f', 'g');
    await until(() => expect(namesIn(receiver)).toHaveLength(7));
    expect(new Set(namesIn(receiver)).size).toBe(7);
  });

  test('resend a message under its ID, and replay rows under new IDs', async () => {
    const receiver = await aReceiver();
    start(receiver);
    await track('one');
    await until(() => expect(receiver.delivered).toHaveLength(1));
    const [{ messageId, events } = { messageId: '', events: [] }] = receiver.delivered;
    await until(async () => expect((await state())?.message).toBeNull());
    expect(await store().webhooks.requestResend(api().workspaceId, 'crm', messageId)).toBe(true);
    await until(() => expect(receiver.delivered).toHaveLength(2));
    expect(receiver.delivered[1]).toMatchObject({ messageId, events });
    await until(async () => expect((await state())?.resendMessageId).toBeNull());
    expect(await store().webhooks.replay(api().workspaceId, 'crm', FEED_START)).toBe(true);
    await until(() => expect(receiver.delivered).toHaveLength(3));
    expect(receiver.delivered[2]!.messageId).not.toBe(messageId);
    expect(receiver.delivered[2]!.events).toEqual(events);
  });

  test('send a test without events, even if they are disabled', async () => {
    const receiver = await aReceiver();
    receiver.answer = () => new Response(null, { status: 410 });
    start(receiver, { webhook: { secret_env: 'CURRENT' } });
    await track('one');
    await until(async () => expect((await state())?.disabledReason).toBe('http_410'));
    receiver.answer = () => new Response(null, { status: 204 });
    await store().webhooks.requestResend(api().workspaceId, 'crm', 'test_1');
    await until(() => expect(receiver.delivered).toHaveLength(1));
    expect(receiver.delivered[0]).toMatchObject({ messageId: 'test_1', body: '{"events":[]}' });
    expect(receiver.delivered[0]!.headers.get('webhook-signature')).toMatch(/^v1,/);
    await until(async () => expect((await state())?.resendMessageId).toBeNull());
    // Both attempts have the same time.
    expect(await attempts()).toContainEqual(
      expect.objectContaining({ messageId: 'test_1', events: 0, status: 204, error: null }),
    );
    expect((await state())?.disabledReason).toBe('http_410');
  });

  test('replay every row from a given time, and at most a minute of earlier rows', async () => {
    const storeAt = (receivedAtMs: number) =>
      store().write({
        workspaceId: api().workspaceId,
        lookups: [byExternalId('kim')],
        nowMs: NOW,
        apply(users) {
          const profile = users.find(byExternalId('kim'))[0] ?? users.create({ externalId: 'kim' }, NOW);
          users.record(profile, { ...anEvent(profile, 'opened', receivedAtMs), receivedAtMs });
        },
      });
    const minutes = [0, 5, 10, 15, 20, 25];
    for (const minute of minutes) await storeAt(NOW + minute * 60_000);
    for (const since of [-60, 0, 7, 15, 60]) {
      const after = await cursorSince(store(), NOW + since * 60_000);
      const { events } = await readEvents({
        feed: store(),
        findWorkspace: () => undefined,
        after,
        limit: 100,
        workspaceId: api().workspaceId,
      });
      expect(events.map(({ timeMs }) => (timeMs - NOW) / 60_000)).toEqual(
        minutes.filter((minute) => minute >= since),
      );
    }
  });

  test('fail with the name of a missing secret without sending', async () => {
    const receiver = await aReceiver();
    start(receiver, { webhook: { secret_env: 'MISSING' } });
    await track('one');
    await until(async () => expect(await attempts()).toMatchObject([{ error: 'MISSING is not set' }]));
    expect([...receiver.delivered, ...receiver.failed]).toEqual([]);
  });

  test('do not connect to a private address without permission', async () => {
    const receiver = await aReceiver();
    start(receiver, { privateHosts: new Set() });
    await track('one');
    await until(async () => expect(await attempts()).toMatchObject([{ error: 'private_address' }]));
    expect([...receiver.delivered, ...receiver.failed]).toEqual([]);
  });

  test('are delivered by one of many replicas, and by another after it stops', async () => {
    const receiver = await aReceiver();
    const replicas = [start(receiver), start(receiver), start(receiver)];
    await track('one');
    await until(() => expect(namesIn(receiver)).toEqual(['u-one']));
    for (const { stop } of replicas.slice(0, 2)) await stop();
    await track('two', 'three');
    await until(() => expect(namesIn(receiver)).toHaveLength(3));
    await replicas[2]!.stop();
    expect(await state()).toMatchObject({ runId: '', message: null });
    expect(formatCursor((await state())!.deliveredThrough)).not.toBe(formatCursor(FEED_START));
  });

  test('have metrics of attempts by outcome, lag, failures and disabled state', async () => {
    const receiver = await aReceiver();
    receiver.answer = () => new Response(null, { status: 503 });
    const { clock, readMetrics } = start(receiver);
    await track('one');
    await until(async () => expect((await state())?.failures).toBe(1));
    clock.now = NOW + 4_000;
    expect(await readMetrics()).toEqual({
      'attempts_total http_5xx': 1,
      lag_seconds: 4,
      consecutive_failures: 1,
      disabled: 0,
    });
    receiver.answer = () => new Response(null, { status: 204 });
    clock.now = NOW + 10_000;
    await until(async () =>
      expect(await readMetrics()).toEqual({
        'attempts_total http_5xx': 1,
        'attempts_total delivered': 1,
        lag_seconds: 0,
        consecutive_failures: 0,
        disabled: 0,
      }),
    );
    receiver.answer = () => new Response(null, { status: 410 });
    await track('two');
    await until(async () =>
      expect(await readMetrics()).toMatchObject({
        'attempts_total http_4xx': 1,
        disabled: 1,
        lag_seconds: 10,
      }),
    );
  });

  test('keep the last thousand attempts', async () => {
    const receiver = await aReceiver();
    const { stop } = start(receiver);
    await track('one');
    await until(async () => expect(await attempts()).toHaveLength(1));
    await stop();
    const held = (await state())!;
    const [last] = await attempts();
    const { webhooks }: Store = store();
    for (let count = 0; count < 1_010; count += 1)
      await webhooks.addAttempt(held, { ...last!, attemptId: `2000 ${String(count).padStart(4, '0')}` });
    await webhooks.pruneAttempts(held.workspaceId, 'crm');
    const kept = await webhooks.attempts(held.workspaceId, 'crm', 2_000);
    expect(kept).toHaveLength(1_000);
    expect(kept[0]).toEqual(last);
  });
});
