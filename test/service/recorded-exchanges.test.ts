// Recorded requests of public clients of this API, and the responses of the real service.
import { Braze } from 'braze-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aWorkspace } from '../helpers/a-workspace.ts';
import { type RunningService, runService } from '../helpers/running-service.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runService([aWorkspace()]);
});
afterAll(() => service.stop());

const post = async (path: string, body: unknown) => {
  const { status, body: answer } = await service.call('POST', path, { key: service.serverKey, body });
  return { status, body: answer as Record<string, unknown> };
};

describe('a Ruby client, recorded', () => {
  test('sends numbers as external_id and product_id, and Time#to_s as time', async () => {
    const answer = await post('/users/track', {
      attributes: [{ external_id: 1, foo: 'bar' }],
      events: [{ external_id: 1, name: 'baz', time: '2019-02-15 12:00:00 -0500' }],
      purchases: [
        { external_id: 1, product_id: 1, time: '2019-02-15 12:00:00 -0500', currency: 'CAD', price: 1.0 },
      ],
    });
    expect(answer).toEqual({
      status: 201,
      body: { message: 'success', attributes_processed: 1, events_processed: 1, purchases_processed: 1 },
    });
  });

  test('wraps the alias of alias/new in a user_alias', async () => {
    const answer = await post('/users/alias/new', {
      user_aliases: [{ user_alias: { alias_name: 'abc', alias_label: 'foo' } }],
    });
    expect(answer).toEqual({ status: 201, body: { aliases_processed: 1, message: 'success' } });
  });

  test('identifies with a number', async () => {
    const answer = await post('/users/identify', {
      aliases_to_identify: [{ external_id: 12345, user_alias: { alias_name: 'abc', alias_label: 'foo' } }],
    });
    expect(answer).toEqual({ status: 201, body: { aliases_processed: 1, message: 'success' } });
  });

  test('exports by number, without fields_to_export', async () => {
    await post('/users/track', {
      attributes: [
        {
          external_id: 12345,
          first_name: 'John',
          email: 'example@test.com',
          array_attribute: ['banana', 'apple'],
          boolean_attribute_1: true,
          integer_attribute: 25,
        },
      ],
    });
    const answer = await post('/users/export/ids', { external_ids: [12345] });
    expect(answer.status).toBe(201);
    const [user] = answer.body['users'] as Record<string, unknown>[];
    expect(user).toMatchObject({
      external_id: '12345',
      first_name: 'John',
      email: 'example@test.com',
      custom_attributes: {
        array_attribute: ['banana', 'apple'],
        boolean_attribute_1: true,
        integer_attribute: 25,
      },
    });
    expect(typeof user!['braze_id']).toBe('string');
    expect(Date.parse(user!['created_at'] as string)).toBeGreaterThan(0);
  });
});

describe('braze-api, the public Node client', () => {
  const client = () => new Braze(service.url, service.serverKey);

  test('tracks attributes, events and purchases', async () => {
    const answer = await client().users.track({
      attributes: [{ external_id: 'node-1', first_name: 'Kim', tier: 'gold' }],
      events: [{ external_id: 'node-1', name: 'opened', time: new Date().toISOString() }],
      purchases: [
        {
          external_id: 'node-1',
          product_id: 'sku-1',
          currency: 'EUR',
          price: 12.5,
          time: new Date().toISOString(),
        },
      ],
    });
    expect(answer.message).toBe('success');
  });

  test('tracks in bulk with its header, which the other endpoint ignores', async () => {
    const answer = await client().users.track(
      { attributes: [{ external_id: 'node-2', tier: 'silver' }] },
      true,
    );
    expect(answer.message).toBe('success');
  });

  test('makes an alias, identifies it and reads the user back', async () => {
    const braze = client();
    await braze.users.alias.new({ user_aliases: [{ alias_name: 'crm-7', alias_label: 'crm' }] });
    const identified = await braze.users.identify({
      aliases_to_identify: [
        { external_id: 'node-3', user_alias: { alias_name: 'crm-7', alias_label: 'crm' } },
      ],
    });
    expect(identified.message).toBe('success');
    const exported = (await braze.users.export.ids({
      external_ids: ['node-3'],
      fields_to_export: ['external_id', 'user_aliases'],
    })) as unknown as { users: { external_id: string; user_aliases: unknown[] }[] };
    expect(exported.users).toEqual([
      { external_id: 'node-3', user_aliases: [{ alias_name: 'crm-7', alias_label: 'crm' }] },
    ]);
  });

  test('receives a rejection as an error with status and message', async () => {
    const refused = new Braze(service.url, 'no-such-key').users.track({ attributes: [{ external_id: 'x' }] });
    await expect(refused).rejects.toMatchObject({ message: 'Invalid API key', status: 401 });
  });
});
