import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createRestClient } from '../../src/server/index.ts';
import { arrangeRestClient } from '../helpers/rest-client.ts';

describe('createRestClient', () => {
  it('requires a known instance or an http(s) endpoint, and a key', () => {
    const wrong = (options: object) => () => createRestClient(options as never);
    expect(wrong({ apiKey: 'k' })).toThrow('instance or endpoint is required');
    expect(wrong({ apiKey: 'k', instance: 'US-09' })).toThrow("instance: 'US-09' is not one of US-01");
    expect(wrong({ apiKey: 'k', endpoint: 'rest.example' })).toThrow(
      "endpoint: 'rest.example' is not an http(s) URL",
    );
    expect(wrong({ apiKey: 'k', endpoint: 'file:///etc' })).toThrow('not an http(s) URL');
    expect(wrong({ apiKey: '', endpoint: 'http://127.0.0.1' })).toThrow(
      'apiKey: expected a key, got nothing',
    );
  });

  it('requires arrays of profiles, and does not validate names', async () => {
    const { client, fake } = arrangeRestClient();
    const wrong = [new Set(['u-1']), 'u-1', { length: 1 }, null];
    for (const external_ids of wrong) {
      const deleting = client.deleteUsers({ external_ids } as never);
      await expect(deleting).rejects.toThrow(new TypeError('external_ids: expected an array'));
    }
    await expect(client.newAliases(new Set() as never)).rejects.toThrow('aliases: expected an array');
    await expect(client.merge({} as never)).rejects.toThrow('updates: expected an array');
    expect(fake.requests).toEqual([]);
    await client.identify({ aliases: [{}] } as never).catch(() => undefined);
    expect(fake.requests.map(({ body }) => body)).toEqual([{ aliases: [{}] }]);
  });

  it('requires a timeout that timers support, and at least one attempt', () => {
    const choosing = (options: object) => () =>
      createRestClient({ endpoint: 'http://127.0.0.1', apiKey: 'k', ...options });
    for (const timeoutMs of [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '30', null])
      expect(choosing({ timeoutMs })).toThrow(
        `timeoutMs: expected a whole number from 1 to 2147483647, got ${timeoutMs}`,
      );
    for (const maxAttempts of [0, Number.NaN, '6'])
      expect(choosing({ maxAttempts })).toThrow(`maxAttempts: expected a number from 1, got ${maxAttempts}`);
  });

  it.each([
    ['http://me:pw-of-mine@127.0.0.1', 'user name and password are not allowed'],
    ['http://me@127.0.0.1', 'user name and password are not allowed'],
    ['http://:pw-of-mine@127.0.0.1', 'user name and password are not allowed'],
    ['http://127.0.0.1/?token=pw-of-mine', 'query and fragment are not allowed'],
    ['http://127.0.0.1/#pw-of-mine', 'query and fragment are not allowed'],
    ['http://127.0.0.1/api?', 'query and fragment are not allowed'],
    ['http://127.0.0.1/api#', 'query and fragment are not allowed'],
    ['me:pw-of-mine@127.0.0.1', 'not an http(s) URL'],
    ['http://me:pw-of-mine@', 'not an http(s) URL'],
  ])('rejects the endpoint %s without quoting its password', (endpoint, problem) => {
    let error = new Error('taken');
    try {
      createRestClient({ endpoint, apiKey: 'k' });
    } catch (thrown) {
      error = thrown as Error;
    }
    expect(error.message).toContain(problem);
    expect(inspect(error, { depth: null })).not.toContain('pw-of-mine');
  });

  it('takes the host of an instance from the table, not from its label', async () => {
    let asked = '';
    const client = createRestClient({
      instance: 'EU-01',
      apiKey: 'k',
      fetch: async (input) => {
        asked = (input as Request).url;
        return Response.json({ results: [], message: 'success' });
      },
    });
    await client.integrations().next();
    expect(asked).toBe('https://rest.fra-01.braze.eu/cdi/integrations');
  });

  it('keeps the path of an endpoint, with or without a trailing slash', async () => {
    const asked: string[] = [];
    for (const endpoint of ['http://127.0.0.1:9/api', 'http://127.0.0.1:9/api/']) {
      const client = createRestClient({
        endpoint,
        apiKey: 'k',
        fetch: async (input) => {
          asked.push((input as Request).url);
          return Response.json({ results: [], message: 'success' });
        },
      });
      await client.integrations().next();
    }
    expect(asked).toEqual(Array(2).fill('http://127.0.0.1:9/api/cdi/integrations'));
  });

  it('calls a key function before every request, so that keys can change at run time', async () => {
    let key = 'server-key';
    const { client, fake } = arrangeRestClient({ apiKey: async () => key });
    await client.integrations().next();
    key = 'next-key';
    fake.setKeys({ server: key });
    await client.integrations().next();
    expect(fake.requests.map(({ status }) => status)).toEqual([200, 200]);
  });
});
