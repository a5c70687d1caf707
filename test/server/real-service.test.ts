import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiError, createRestClient } from '../../src/server/index.ts';
import { aWorkspace } from '../helpers/a-workspace.ts';
import { someEvents } from '../helpers/rest-client.ts';
import { type RunningService, runService } from '../helpers/running-service.ts';

const integrations = Array.from({ length: 13 }, (_, at) => ({
  integration_id: `i-${at}`,
  app_group_id: 'g',
  integration_name: `n-${at}`,
  integration_type: 'users',
  integration_status: 'active',
  contact_emails: 'a@example.com',
  last_updated_at: '2026-03-01T04:10:22Z',
  warehouse_type: 'snowflake',
  last_job_start_time: '',
  last_job_status: '',
  next_scheduled_run: '',
}));

/** The same calls against the real service over a socket: it must behave as the fake does. */
describe('the REST client and the service', () => {
  let service: RunningService;
  beforeEach(async () => {
    service = await runService([aWorkspace({ integrations })]);
  });
  afterEach(() => service.stop());
  const client = (apiKey = service.serverKey) => createRestClient({ endpoint: service.url, apiKey });

  it('agree on accepted objects, at the caller’s own indexes', async () => {
    const events = someEvents(160, 'kim');
    Object.assign(events[100]!, { time: 'yesterday' });
    const report = await client().track({
      attributes: [{ external_id: 'kim', tier: 'gold', email: 'not an address' }],
      events,
      purchases: [
        {
          external_id: 'kim',
          product_id: 'p',
          currency: 'EUR',
          price: 5,
          quantity: 0,
          time: '2026-01-01T00:00:00Z',
        },
      ],
    });
    expect(report.problems).toEqual([
      { position: { array: 'attributes', index: 0 }, reason: 'EMAIL_BAD_FORMAT' },
      { position: { array: 'events', index: 100 }, reason: "'time' is not valid" },
      { position: { array: 'purchases', index: 0 }, reason: "'quantity' is not valid" },
    ]);
    expect(report.processed).toEqual({ attributes: 1, events: 159, purchases: 0 });
    const { users } = await client().exportUsers({ external_ids: ['kim'] });
    expect(users[0]).toMatchObject({ external_id: 'kim', custom_attributes: { tier: 'gold' } });
    const counts = users[0]!['custom_events'] as { count: number }[];
    expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(159);
  });

  it('agree on the list of integrations', async () => {
    const listed: unknown[] = [];
    for await (const integration of client().integrations()) listed.push(integration);
    expect(listed).toEqual(integrations);
  });

  it('agree on permissions', async () => {
    await expect(client('wrong').integrations().next()).rejects.toMatchObject({ status: 401 });
    await expect(client(service.clientKey).integrations().next()).rejects.toBeInstanceOf(ApiError);
  });

  it('alias, merge and identify more users than one request may have', async () => {
    const rest = client();
    const alias = (at: number) => ({ alias_name: `crm-${at}`, alias_label: 'crm' });
    expect(await rest.newAliases(Array.from({ length: 60 }, (_, at) => alias(at)))).toBe(60);
    const identified = Array.from({ length: 60 }, (_, at) => ({
      external_id: `u-${at}`,
      user_alias: alias(at),
    }));
    expect(await rest.identify({ aliases_to_identify: identified })).toBe(60);
    await rest.merge([
      { identifier_to_merge: { external_id: 'u-1' }, identifier_to_keep: { external_id: 'u-2' } },
    ]);
    const { users } = await rest.exportUsers({ external_ids: ['u-1', 'u-2', 'u-59'] });
    expect(users.map(({ external_id }) => external_id).sort()).toEqual(['u-2', 'u-59']);
  });
});
