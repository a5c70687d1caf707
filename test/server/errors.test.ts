import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRestClient, InDoubtError, type RestClient } from '../../src/server/index.ts';
import { freePort } from '../helpers/free-port.ts';
import { someEvents } from '../helpers/rest-client.ts';

const KEY = 'a-key-that-nobody-may-read';

/** Everything that printing, serializing or logging an error reveals. */
const printed = (error: Error): string => {
  const lines: string[] = [];
  const log = pino({}, { write: (line) => lines.push(line) });
  log.error({ err: error, cause: error.cause }, 'failed');
  const members: string[] = [];
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    members.push(JSON.stringify(each), JSON.stringify(each, Object.getOwnPropertyNames(each)));
  }
  return [inspect(error, { depth: null, showHidden: true }), ...members, ...lines].join('\n');
};

const getCauses = (error: unknown): Error[] =>
  error instanceof Error ? [error, ...getCauses(error.cause)] : [];

const CALLS: [string, (client: RestClient, signal?: AbortSignal) => Promise<unknown>][] = [
  ['track', (client, signal) => client.track({ events: someEvents(300, 'one') }, signal && { signal })],
  ['integrations', (client, signal) => client.integrations(signal && { signal }).next()],
  ['exportUsers', (client, signal) => client.exportUsers({ external_ids: ['kim'] }, signal)],
  [
    'merge',
    (client, signal) =>
      client.merge(
        [{ identifier_to_merge: { external_id: 'a' }, identifier_to_keep: { external_id: 'b' } }],
        signal,
      ),
  ],
];

describe.each(CALLS)('the error of %s', (_, call) => {
  let close: () => void;
  beforeEach(() => {
    close = () => undefined;
  });
  afterEach(() => close());

  const serve = async (listener: RequestListener): Promise<string> => {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    close = () => {
      server.closeAllConnections();
      server.close();
    };
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const failure = async (
    endpoint: string,
    { timeoutMs = 30_000, signal }: { timeoutMs?: number; signal?: AbortSignal } = {},
  ) => {
    const client = createRestClient({ endpoint, apiKey: KEY, maxAttempts: 1, timeoutMs });
    return call(client, signal).then(
      () => expect.unreachable(),
      (error: Error) => error,
    );
  };
  const expectNoKey = (error: Error) => {
    expect(printed(error)).not.toContain(KEY);
    expect(getCauses(error).filter((each) => 'request' in each || 'options' in each)).toEqual([]);
  };

  it('has the platform’s code, and not the key, if the connection failed', async () => {
    const error = await failure(`http://127.0.0.1:${await freePort()}`);
    expectNoKey(error);
    expect(getCauses(error).at(-1)).toMatchObject({ code: 'ECONNREFUSED' });
    expect(getCauses(error).map(({ name }) => name)).toContain('ConnectionError');
  });

  it('has the platform’s message, and not the key, if the connection was closed', async () => {
    const error = await failure(await serve((request) => request.socket.destroy()));
    expectNoKey(error);
    expect(getCauses(error).some((each) => each instanceof InDoubtError)).toBe(true);
    expect(getCauses(error).at(-1)).toMatchObject({ code: 'UND_ERR_SOCKET' });
  });

  it('does not include the key if the response was truncated', async () => {
    const error = await failure(
      await serve((request, response) => {
        response.writeHead(201, { 'content-type': 'application/json', 'content-length': '99' });
        response.write('{', () => request.socket.destroy());
      }),
    );
    expectNoKey(error);
  });

  it('does not include the key after a timeout', async () => {
    const error = await failure(await serve(() => undefined), { timeoutMs: 50 });
    expectNoKey(error);
    expect(getCauses(error).at(-1)).toMatchObject({ name: 'TimeoutError' });
  });

  it('does not include the key after an abort', async () => {
    const controller = new AbortController();
    const endpoint = await serve(() => controller.abort(new Error('Enough')));
    const error = await failure(endpoint, { signal: controller.signal });
    expectNoKey(error);
    expect(getCauses(error).at(-1)).toMatchObject({ message: 'Enough' });
  });
});
