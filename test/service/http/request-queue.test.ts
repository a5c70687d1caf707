import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { type HttpResponse, JSON_HEADERS } from '../../../src/service/http/http-request.ts';
import { type ListenOptions, servePort } from '../../../src/service/http/serve-port.ts';
import { recordingLog } from '../../helpers/running-service.ts';

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

const aClient = async (port: number) => {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
};

/** Port whose handler waits for the test and counts requests in flight. */
const aPort = async (respond: (path: string) => HttpResponse['body'], options: ListenOptions = {}) => {
  const handled: string[] = [];
  let inWork = 0;
  let most = 0;
  const lines: Record<string, unknown>[] = [];
  const served = await servePort(
    async ({ path }) => {
      handled.push(path);
      inWork += 1;
      most = Math.max(most, inWork);
      await new Promise(setImmediate);
      inWork -= 1;
      return { status: 200, headers: JSON_HEADERS, body: respond(path) };
    },
    { port: 0, lingerMs: 0, drainMs: 0, log: recordingLog(lines), ...options },
  );
  onTestFinished(served.stop);
  return { port: served.port, handled, lines, most: () => most };
};

describe('pipelined requests', () => {
  test('are handled one at a time, with responses in order', async () => {
    const { port, handled, most } = await aPort((path) => JSON.stringify(path));
    const socket = await aClient(port);
    const paths = Array.from({ length: 40 }, (_, at) => `/${at}`);
    let text = '';
    const complete = new Promise<void>((resolve) => {
      socket.on('data', (chunk) => {
        text += chunk;
        if (text.endsWith('"/39"')) resolve();
      });
    });
    socket.write(paths.map(get).join(''));
    await complete;
    expect(most()).toBe(1);
    expect(handled).toEqual(paths);
    expect(text.match(/"\/\d+"/g)).toEqual(paths.map((path) => `"${path}"`));
  });

  test('end the connection if more than 64 are waiting, and are not handled', async () => {
    const { port, handled } = await aPort((path) => path);
    const socket = await aClient(port);
    socket.resume();
    socket.write(get('/a').repeat(66));
    await once(socket, 'close');
    expect(handled.length).toBeLessThan(66);
    const other = await aClient(port);
    other.write(get('/b'));
    await once(other, 'data');
    expect(handled.at(-1)).toBe('/b');
  });
});

describe('unread responses', () => {
  const LARGE = 'x'.repeat(8 * 1024 * 1024);

  /** Connections whose clients have read the response head and nothing more. */
  const unreadFrom = async (port: number, count: number) => {
    const clients: Socket[] = [];
    for (let at = 0; at < count; at += 1) {
      const socket = await aClient(port);
      socket.write(get('/large'));
      await once(socket, 'readable');
      clients.push(socket);
    }
    return clients;
  };

  test('are dropped above the limit, oldest first, and logged', async () => {
    const { port, lines } = await aPort(() => LARGE, { maxUnreadBytes: 3 * LARGE.length });
    const clients = await unreadFrom(port, 5);
    const lengths = await Promise.all(
      clients.map(async (socket) => {
        let length = 0;
        socket.on('data', (chunk: Buffer) => {
          length += chunk.length;
          if (length > LARGE.length) socket.destroy();
        });
        await once(socket, 'close');
        return length > LARGE.length;
      }),
    );
    expect(lengths).toEqual([false, false, true, true, true]);
    expect(lines).toEqual([
      { level: 'warn', bytes: LARGE.length, message: 'response dropped: the client does not read it' },
    ]);
  });

  test('do not count toward the limit if the process keeps their bytes anyway', async () => {
    const shared = new Uint8Array(Buffer.from(LARGE));
    const { port, lines } = await aPort(() => shared, { maxUnreadBytes: LARGE.length });
    const clients = await unreadFrom(port, 5);
    expect(clients.map((socket) => socket.destroyed)).toEqual([false, false, false, false, false]);
    expect(lines).toEqual([]);
  });
});
