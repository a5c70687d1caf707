import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { createPost, NotTakenError } from '../../../src/service/replicas/post.ts';
import { freePort } from '../../helpers/free-port.ts';

let cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

const aServer = async (answer: RequestListener): Promise<{ server: Server; url: string }> => {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

const aPost = (url: string, answerMs?: number) => {
  const replica = { id: 'r-1', url, token: 'secret', machine: 'here', format: 1 };
  const { post, close } = createPost(replica, answerMs);
  cleanups.push(close);
  return post;
};

test('posts to the replica with its token, and reads what could not be stored', async () => {
  const seen: unknown[] = [];
  const { url } = await aServer((request, response) => {
    const { method, headers } = request;
    seen.push([method, request.url, headers.authorization, headers['content-type']]);
    request.pipe(response);
  });
  expect(await aPost(url)('{"failed":[2]}')).toEqual({ failed: [2] });
  expect(seen).toEqual([['POST', '/replicas/tracks', 'Bearer secret', 'application/json']]);
});

test('one after the other goes over the same connection', async () => {
  let connections = 0;
  const { server, url } = await aServer((request, response) => request.pipe(response));
  server.on('connection', () => {
    connections += 1;
  });
  const post = aPost(url);
  for (let i = 0; i < 5; i += 1) await post('{"failed":[]}');
  expect(connections).toBe(1);
});

test('one that cannot be reached has surely taken nothing', async () => {
  await expect(aPost(`http://127.0.0.1:${await freePort()}`)('[]')).rejects.toThrow(NotTakenError);
});

test.each([
  [401, ''],
  [404, '{}'],
  [413, '{}'],
  [503, '{"taken":false}'],
])('one that answers %i %s has surely taken nothing', async (status, body) => {
  const { url } = await aServer((_, response) => response.writeHead(status).end(body));
  await expect(aPost(url)('[]')).rejects.toThrow(NotTakenError);
});

function* endless() {
  for (;;) yield Buffer.alloc(64 * 1024);
}

const inDoubt = 'what it stored is not known';

test.each<[string, RequestListener]>([
  ['ends before it answers', (request) => request.socket.destroy()],
  [
    'ends while it answers',
    (request, response) => {
      response.writeHead(200, { 'Content-Length': 100 });
      response.write('{"failed"');
      request.once('end', () => response.destroy()).resume();
    },
  ],
  ['answers without an end', (_, response) => Readable.from(endless()).pipe(response)],
  [
    'wants to speak another protocol',
    (_, response) => response.writeHead(101, { Connection: 'Upgrade', Upgrade: 'websocket' }).end(),
  ],
  ['answers what is no JSON', (_, response) => response.writeHead(200).end('<html>')],
  ['answers what is no outcome', (_, response) => response.writeHead(200).end('{}')],
  ['has a proxy that answers 503', (_, response) => response.writeHead(503).end('no upstream')],
])('nobody knows what one has stored that %s', async (_, answer) => {
  const { url } = await aServer(answer);
  const failure = aPost(url)('[]');
  await expect(failure).rejects.toThrow(inDoubt);
  await expect(failure).rejects.not.toBeInstanceOf(NotTakenError);
});

test('nor one that does not answer in time', async () => {
  let requests = 0;
  const { url } = await aServer((request, response) => {
    requests += 1;
    if (requests === 1) request.pipe(response);
  });
  const post = aPost(url, 200);
  // The second goes over the same connection: there is no waiting for one that could be what took too long.
  await post('{"failed":[]}');
  await expect(post('[]')).rejects.toThrow(inDoubt);
  expect(requests).toBe(2);
});

test.each<[string, (response: ServerResponse) => void]>([
  ['bytes', (response) => response.write(' ')],
  ['what is no answer yet', (response) => response.writeContinue()],
])('nor one that sends %s again and again', async (_, send) => {
  const { url } = await aServer((request, response) => {
    const trickling = setInterval(() => send(response), 20);
    request.socket.once('close', () => clearInterval(trickling));
  });
  await expect(aPost(url, 300)('[]')).rejects.toThrow(inDoubt);
});

test('a URL that cannot be asked has surely taken nothing', async () => {
  for (const url of ['https://10.0.0.5', 'http://[fe80::1%eth0]:8787']) {
    await expect(aPost(url)('[]')).rejects.toThrow(NotTakenError);
  }
});
