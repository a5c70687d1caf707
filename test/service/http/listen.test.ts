import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createService, listen, openStore, type Store } from '../../../src/service/index.ts';
import { aWorkspace, SERVER_KEY } from '../../helpers/a-workspace.ts';
import { type RunningService, runService } from '../../helpers/running-service.ts';

let service: RunningService | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await service?.stop();
  service = undefined;
});

/** All bytes that the service sends on one connection until it closes it. */
const raw = (port: number, ...parts: string[]): { socket: Socket; text: Promise<string> } => {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  let received = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    received += chunk;
  });
  const text = new Promise<string>((resolve) => {
    socket.on('close', () => resolve(received));
    socket.on('error', () => resolve(received));
  });
  for (const part of parts) socket.write(part);
  return { socket, text };
};

const getPort = (running: RunningService) => Number(new URL(running.url).port);

const head = (...lines: string[]) =>
  [
    'POST /users/track HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${SERVER_KEY}`,
    'Content-Type: application/json',
    ...lines,
    '',
    '',
  ].join('\r\n');

describe('a connection', () => {
  test('accepts a chunked body', async () => {
    service = await runService([aWorkspace()]);
    const { text } = raw(
      getPort(service),
      head('Transfer-Encoding: chunked', 'Connection: close'),
      '10\r\n{"attributes":[{\r\n',
      '16\r\n"external_id":"u-1"}]}\r\n',
      '0\r\n\r\n',
    );
    expect(await text).toMatch(/^HTTP\/1\.1 201 /);
  });

  test.each([
    [200_000, 201],
    [200_001, 413],
  ])('sends a body of %i one-byte chunks and receives %i', async (count, status) => {
    service = await runService([aWorkspace()]);
    const json = '{"attributes":[{"external_id":"u-1"}]}'.padEnd(count);
    const { text } = raw(
      getPort(service),
      head('Transfer-Encoding: chunked', 'Connection: close'),
      [...json].map((byte) => `1\r\n${byte}\r\n`).join(''),
      '0\r\n\r\n',
    );
    expect(await text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  test('is rejected if it has two Authorization headers, in either order', async () => {
    service = await runService([aWorkspace()]);
    const body = '{"attributes":[{"external_id":"u-1"}]}';
    for (const second of ['nobody', SERVER_KEY]) {
      const { text } = raw(
        getPort(service),
        head(`authorization: Bearer ${second}`, `Content-Length: ${body.length}`, 'Connection: close') + body,
      );
      expect(await text).toMatch(/^HTTP\/1\.1 401 /);
    }
  });

  test('is rejected and closed if it has two Host headers', async () => {
    service = await runService([aWorkspace()]);
    const { text } = raw(getPort(service), 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nhost: other\r\n\r\n');
    expect(await text).toMatch(/^HTTP\/1\.1 400 .*Connection: close.*several Host headers/s);
  });

  test('accepts an absolute request target', async () => {
    service = await runService([aWorkspace()]);
    const ask = (target: string) =>
      raw(getPort(service!), `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`).text;
    expect(await ask('http://localhost/healthz')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await ask('HTTPS://localhost:443/healthz?now')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await ask('http://localhost')).toMatch(/^HTTP\/1\.1 404 /);
    expect(await ask('http://localhost?/healthz')).toMatch(/^HTTP\/1\.1 404 /);
    expect(await ask('localhost/healthz')).toMatch(/^HTTP\/1\.1 40[04] /);
  });

  test('receives 413 for its declared length before it sends a byte', async () => {
    service = await runService([aWorkspace()]);
    const { text } = raw(getPort(service), head('Content-Length: 99999999999', 'Expect: 100-continue'));
    expect(await text).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('receives 100 Continue only if the body is needed', async () => {
    service = await runService([aWorkspace()]);
    const body = '{"attributes":[{"external_id":"u-1"}]}';
    const right = raw(
      getPort(service),
      head(`Content-Length: ${body.length}`, 'Expect: 100-continue', 'Connection: close'),
    );
    right.socket.once('data', () => right.socket.write(body));
    expect(await right.text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
    const wrong = raw(
      getPort(service),
      head(`Content-Length: ${body.length}`, 'Expect: 100-continue').replace(SERVER_KEY, 'nobody'),
    );
    expect(await wrong.text).toMatch(/^HTTP\/1\.1 401 /);
  });

  test('may finish its body after an early rejection, and is then closed', async () => {
    service = await runService([aWorkspace()]);
    const rest = 'x'.repeat(50_000);
    const socket = connect(getPort(service), '127.0.0.1');
    sockets.push(socket);
    socket.write(head(`Content-Length: ${2 + 3 * rest.length}`).replace(SERVER_KEY, 'nobody'));
    socket.write('{"');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 401 .*\r\nConnection: close\r\n.*\r\n\r\n\{.*\}$/s);
    const closed = once(socket, 'close');
    // Waits for each write, because writing to a closed connection causes a reset.
    for (let piece = 0; piece < 3; piece += 1) {
      await new Promise<void>((resolve, reject) => {
        socket.write(rest, (error) => (error ? reject(error) : resolve()));
      });
    }
    expect(await closed).toEqual([false]);
  });

  test('is closed after its response if it continues to send', async () => {
    service = await runService([aWorkspace()]);
    const { socket, text } = raw(getPort(service), head('Transfer-Encoding: chunked'));
    const chunk = `40000\r\n${'x'.repeat(0x40000)}\r\n`;
    const pump = () => {
      while (!socket.destroyed && socket.writable && socket.write(chunk));
    };
    socket.on('drain', pump);
    pump();
    expect(await text).toMatch(/^HTTP\/1\.1 413 /);
    expect(socket.bytesWritten).toBeLessThan(64 * 1024 * 1024);
  });

  test('receives 408 if its head or body is slow', async () => {
    service = await runService([aWorkspace()], {
      listen: { headersTimeoutMs: 200, requestTimeoutMs: 400 },
    });
    const slowHead = raw(getPort(service), 'POST /users/track HTTP/1.1\r\nHost: local');
    const slowBody = raw(getPort(service), head('Content-Length: 100'), '{"attr');
    expect(await slowHead.text).toMatch(/^HTTP\/1\.1 408 /);
    expect(await slowBody.text).toMatch(/^HTTP\/1\.1 40[08] /);
  });

  test('has no effect and causes no error if it ends within its body', async () => {
    const store = await openStore(':memory:');
    const counted = Promise.withResolvers<void>();
    const consumeRateLimit: Store['consumeRateLimit'] = (...given) => {
      counted.resolve();
      return store.consumeRateLimit(...given);
    };
    service = await runService([aWorkspace()], { store: { ...store, consumeRateLimit } });
    const { socket } = raw(
      getPort(service),
      head('Content-Length: 100'),
      '{"attributes":[{"external_id":"u-1"}',
    );
    await counted.promise;
    socket.destroy();
    expect((await service.call('GET', '/healthz')).status).toBe(200);
    const users: unknown[] = [];
    for await (const user of service.store.exportUsers('test')) users.push(user);
    expect(users).toEqual([]);
    expect(service.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('receives 400 if it does not use HTTP', async () => {
    service = await runService([aWorkspace()]);
    expect(await raw(getPort(service), 'hello\r\n\r\n').text).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('carries several requests, including rejected ones', async () => {
    service = await runService([aWorkspace()]);
    const request = (key: string, body: string, last = false) =>
      head(`Content-Length: ${body.length}`, ...(last ? ['Connection: close'] : [])).replace(
        SERVER_KEY,
        key,
      ) + body;
    const body = '{"attributes":[{"external_id":"u-1"}]}';
    const { text } = raw(
      getPort(service),
      request(SERVER_KEY, body),
      request(SERVER_KEY, '{}'),
      request(SERVER_KEY, body, true),
    );
    const statuses = [...(await text).matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);
    expect(statuses).toEqual(['201', '400', '201']);
  });
});

describe('a request ID', () => {
  const getId = async (headers: Record<string, string>) =>
    (await service!.call('POST', '/users/track', { headers })).headers.get('x-request-id');

  test('is accepted from a proxy, returned and logged, or replaced if it is malformed', async () => {
    service = await runService([aWorkspace()]);
    expect(await getId({ 'x-request-id': 'edge-1:7f/+=' })).toBe('edge-1:7f/+=');
    const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
    for (const sent of [{}, { 'x-request-id': 'kim@example.org' }, { 'x-request-id': 'x'.repeat(129) }])
      expect(await getId(sent as Record<string, string>)).toMatch(UUID);
    const answered = service.lines.filter(({ message }) => message === 'request handled');
    expect(answered.map(({ request_id }) => request_id)).toEqual([
      'edge-1:7f/+=',
      expect.stringMatching(UUID),
      expect.stringMatching(UUID),
      expect.stringMatching(UUID),
    ]);
    expect(service.lines.find(({ message }) => message === 'requests rejected')).toMatchObject({
      request_id: 'edge-1:7f/+=',
    });
  });

  test('is in the response and in the log line of a failure', async () => {
    const store = await openStore(':memory:');
    const write: Store['write'] = () => Promise.reject(new Error('no disk'));
    service = await runService([aWorkspace()], { store: { ...store, write } });
    const { status, headers } = await service.call('POST', '/users/track', {
      key: SERVER_KEY,
      headers: { 'x-request-id': 'r-7' },
      body: { attributes: [{ external_id: 'u-1' }] },
    });
    expect([status, headers.get('x-request-id')]).toEqual([500, 'r-7']);
    expect(service.lines.find(({ message }) => message === 'request failed')).toMatchObject({
      request_id: 'r-7',
    });
  });
});

describe('stopping', () => {
  /** Store whose writes wait until the test releases them. */
  const heldStore = async () => {
    const store = await openStore(':memory:');
    const order: string[] = [];
    const held = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const slow: Store = {
      ...store,
      write: async (work) => {
        reached.resolve();
        await held.promise;
        const result = await store.write(work);
        order.push('written');
        return result;
      },
      close: async () => {
        order.push('closed');
        await store.close();
      },
    };
    return { store: slow, order, release: held.resolve, writing: reached.promise };
  };

  const connects = (port: number): Promise<boolean> => {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    return once(socket, 'connect').then(
      () => true,
      () => false,
    );
  };

  test('finishes open requests, then closes the store', async () => {
    const { store, order, release, writing } = await heldStore();
    const running = createService({ workspaces: [aWorkspace()], store });
    const listening = await listen(running, { port: 0 });
    const answer = fetch(`${listening.url}/users/track`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SERVER_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ attributes: [{ external_id: 'u-1' }] }),
    });
    await writing;
    const stopped = listening.stop();
    while (await connects(listening.port));
    release();
    const { status, headers } = await answer;
    expect(status).toBe(201);
    expect(headers.get('connection')).toBe('close');
    await stopped;
    expect(order).toEqual(['written', 'closed']);
    await expect(fetch(`${listening.url}/healthz`)).rejects.toThrow();
  });

  const running = async (options: Parameters<typeof listen>[1] = {}) => {
    const store = await openStore(':memory:');
    return listen(createService({ workspaces: [aWorkspace()], store }), { port: 0, ...options });
  };

  const GET = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';

  /** Keep-alive connection after one response. */
  const keptOpen = async (port: number) => {
    const connection = raw(port, GET);
    await once(connection.socket, 'data');
    return connection;
  };

  test('responds to the next request of an open connection and closes it', async () => {
    const { port, stop } = await running({ lingerMs: 60_000 });
    const { socket, text } = await keptOpen(port);
    const stopped = stop();
    while (await connects(port));
    socket.write(GET);
    const [, first, second, ...more] = (await text).split('HTTP/1.1 ');
    expect(first).toMatch(/^200 .*Connection: keep-alive/s);
    expect(second).toMatch(/^200 .*Connection: close/s);
    expect(more).toEqual([]);
    for (const other of sockets) other.destroy();
    // Does not wait for the linger, because no connection is open.
    await stopped;
  });

  test('responds to a request that was already in transit', async () => {
    const { port, stop } = await running({ lingerMs: 0 });
    const { socket, text } = await keptOpen(port);
    const stopped = stop();
    socket.write(GET);
    await stopped;
    expect((await text).match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
  });

  test('accepts every connection that was opened earlier', async () => {
    const { port, stop } = await running({ lingerMs: 0 });
    const texts = Array.from({ length: 20 }, () => raw(port, GET).text);
    // The system has accepted them, and Node.js has yet to read each.
    await new Promise((resolve) => process.nextTick(resolve));
    await stop();
    for (const text of texts) expect(await text).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('closes idle connections, including those that never sent a request', async () => {
    // If they counted as open requests, this would hang.
    const { port, stop } = await running({ lingerMs: 0, drainMs: 600_000 });
    const { text } = await keptOpen(port);
    expect(await connects(port)).toBe(true);
    await stop();
    expect((await text).match(/HTTP\/1\.1 /g)).toHaveLength(1);
  });

  test('waits for a partial request only as long as for others', async () => {
    const { port, stop } = await running({ lingerMs: 0, drainMs: 50 });
    const halfHead = await keptOpen(port);
    halfHead.socket.write('GET /healthz HTTP/1.1\r\nHost: ');
    const halfBody = raw(port, `${head('Content-Length: 40')}{"attr`);
    await stop();
    expect((await halfHead.text).match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(await halfBody.text).toBe('');
  });

  test('fails /readyz', async () => {
    const store = await openStore(':memory:');
    const running = createService({ workspaces: [aWorkspace()], store });
    const ready = () => running.fetch(new Request('http://localhost/readyz'));
    expect((await ready()).status).toBe(200);
    running.drain();
    expect((await ready()).status).toBe(503);
    await running.close();
  });
});

describe('a port', () => {
  test('causes an error if it is in use', async () => {
    service = await runService([aWorkspace()]);
    const store = await openStore(':memory:');
    const running = createService({ workspaces: [aWorkspace()], store });
    await expect(listen(running, { port: getPort(service) })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await running.close();
  });
});

describe('files beside the API', () => {
  test('are served if the handler accepts the request', async () => {
    service = await runService([aWorkspace()], {
      listen: {
        files: (request, response) => {
          if (request.url !== '/page') return false;
          response.end('a page');
          return true;
        },
      },
    });
    expect((await service.call('GET', '/page')).body).toBe('a page');
    expect((await service.call('GET', '/healthz')).body).toEqual({ status: 'ok' });
  });
});
