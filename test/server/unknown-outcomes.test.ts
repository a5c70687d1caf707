import { describe, expect, it } from 'vitest';
import { InDoubtError } from '../../src/server/index.ts';
import type { Fault } from '../../src/testing/index.ts';
import { arrangeRestClient, someEvents } from '../helpers/rest-client.ts';

const LOST: [string, Fault][] = [
  ['a connection that drops after the request', { type: 'drop', when: 'after' }],
  ['a truncated response', { type: 'truncate' }],
  ['an aborted response', { type: 'truncate', broken: true }],
  ['a gateway that timed out', { type: 'status', status: 504, body: '<html>Timeout</html>' }],
];

describe('a lost response', () => {
  it.each(LOST)(
    '(%s) is reported as in doubt for events, which are never counted twice',
    async (_, fault) => {
      const { client, fake } = arrangeRestClient();
      fake.fail(fault);
      const report = await client.track({ events: someEvents(80, 'one') });
      expect(report.inDoubt).toEqual(Array.from({ length: 75 }, (_, index) => ({ array: 'events', index })));
      expect(report.processed.events).toBe(5);
      expect(report.requests).toBe(2);
      expect(fake.requests).toHaveLength(2);
    },
  );

  it.each(LOST)('(%s) is retried if the caller allows it', async (_, fault) => {
    const { client, fake } = arrangeRestClient();
    fake.fail(fault);
    const report = await client.track({ events: someEvents(1) }, { onUnknownOutcome: 'retry' });
    expect(report.inDoubt).toEqual([]);
    expect(fake.requests).toHaveLength(2);
    expect(fake.requests[0]!.text).toBe(fake.requests[1]!.text);
  });

  it('is retried for attributes that set values, because a repeat is safe', async () => {
    const { client, fake } = arrangeRestClient();
    fake.fail({ type: 'drop', when: 'after' });
    const report = await client.track({
      attributes: [{ external_id: 'u', tier: 'gold', tags: { add: ['vip'] } }],
    });
    expect([report.inDoubt, report.processed.attributes, fake.requests.length]).toEqual([[], 1, 2]);
  });

  it.each([{ visits: { inc: 1 } }, { cars: { $add: [{ id: 1 }] } }])(
    'is not retried for attributes that increment or append: %j',
    async (attributes) => {
      const { client, fake } = arrangeRestClient();
      fake.fail({ type: 'drop', when: 'after' });
      const report = await client.track({ attributes: [{ external_id: 'u', ...attributes }] });
      expect(report.inDoubt).toEqual([{ array: 'attributes', index: 0 }]);
      expect(fake.requests).toHaveLength(1);
    },
  );

  it('stops the run after three in a row', async () => {
    const { client, fake } = arrangeRestClient();
    fake.fail({ type: 'drop', when: 'before' }, { times: 99 });
    const error = await client.track({ events: someEvents(750, 'one') }).catch((reason) => reason);
    expect(error.cause).toBeInstanceOf(InDoubtError);
    expect(error.report.inDoubt).toHaveLength(225);
    expect(fake.requests).toHaveLength(3);
  });

  it.each([503, 401])('stays in doubt if only %i responses follow', async (status) => {
    const { client, fake } = arrangeRestClient({ maxAttempts: 3 });
    fake.fail({ type: 'drop', when: 'after' });
    fake.fail({ type: 'status', status }, { times: 99 });
    const error = await client
      .track({ events: someEvents(80, 'one') }, { onUnknownOutcome: 'retry' })
      .catch((reason) => reason);
    expect(error.cause).toMatchObject({ status });
    expect(error.report.inDoubt).toEqual(
      Array.from({ length: 75 }, (_, index) => ({ array: 'events', index })),
    );
    expect(error.report.requests).toBe(1);
    expect(error.unsent.map(({ index }: { index: number }) => index)).toEqual([75, 76, 77, 78, 79]);
  });

  it('stays in doubt if a retry cannot get a key', async () => {
    let asked = 0;
    const { client, fake } = arrangeRestClient({
      apiKey: async () => {
        asked += 1;
        if (asked > 1) throw new Error('The vault is shut');
        return 'server-key';
      },
    });
    fake.fail({ type: 'drop', when: 'after' });
    const error = await client
      .track({ attributes: [{ external_id: 'u', tier: 'gold' }] })
      .catch((reason) => reason);
    expect(error.message).toBe('Tracking stopped: The vault is shut');
    expect(error.report.inDoubt).toEqual([{ array: 'attributes', index: 0 }]);
    expect(error.unsent).toEqual([]);
  });

  const systemError = (code: string, syscall: string) => Object.assign(new Error(code), { code, syscall });
  it.each([
    ['was refused', systemError('ECONNREFUSED', 'connect')],
    ['has no route', systemError('ENETUNREACH', 'connect')],
    ['has no DNS record', systemError('ENOTFOUND', 'getaddrinfo')],
    [
      'failed at every address',
      new AggregateError([systemError('ETIMEDOUT', 'connect'), systemError('ECONNREFUSED', 'connect')]),
    ],
  ])('is not in doubt and is retried if the connection %s, because nothing was sent', async (_, refused) => {
    let calls = 0;
    const { client, fake } = arrangeRestClient({
      fetch: async (input, init) => {
        calls += 1;
        if (calls === 1) throw new TypeError('fetch failed', { cause: refused });
        return fake.fetch(input, init);
      },
    });
    const report = await client.track({ events: someEvents(1) });
    expect([report.inDoubt, report.processed.events, calls]).toEqual([[], 1, 2]);
  });

  it('is in doubt if the host of an open connection becomes unreachable', async () => {
    const { client } = arrangeRestClient({
      fetch: async () => {
        throw new TypeError('fetch failed', { cause: systemError('EHOSTUNREACH', 'read') });
      },
    });
    expect((await client.track({ events: someEvents(1) })).inDoubt).toHaveLength(1);
  });

  it('is not in doubt if a captive portal responded, because the service did not receive the request', async () => {
    const { client, fake } = arrangeRestClient();
    fake.fail({ type: 'captive-portal' });
    const report = await client.track({ events: someEvents(1) });
    expect([report.inDoubt, report.processed.events, fake.requests.length]).toEqual([[], 1, 2]);
  });

  it('is reported after a timeout', async () => {
    const { client, fake } = arrangeRestClient({ timeoutMs: 20 });
    fake.fail({ type: 'hang', stored: true });
    const report = await client.track({ events: someEvents(1) });
    expect(report.inDoubt).toHaveLength(1);
  });
});
