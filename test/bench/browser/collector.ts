import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { aBanner, createFakeService } from '../../../src/testing/index.ts';

/** Events carry this marker, so that any protocol can be counted. */
export const markerOf = (number: number): string => `evt-${number}-end`;
const MARKER = /evt-(\d+)-end/g;

const CORS = {
  'access-control-allow-methods': 'GET, POST, OPTIONS',
  'access-control-allow-headers':
    '*, authorization, content-type, x-braze-api-key, x-braze-datarequest, x-requested-with, x-braze-triggersrequest, x-braze-contentcardsrequest, x-braze-feature-flags-request, x-braze-bannersrequest, braze-sync-retry-count, x-braze-last-req-ms-ago, x-braze-req-attempt, x-braze-req-tokens-remaining, sp-anonymous',
  'access-control-max-age': '600',
};

/** What a body says when it is unpacked: gzip, form fields, base64. */
const readable = (body: Buffer): string => {
  const text = (body[0] === 0x1f && body[1] === 0x8b ? gunzipSync(body) : body).toString('utf8');
  const field = /(?:^|&)data=([^&]*)/.exec(text)?.[1];
  if (field === undefined) return text;
  const value = decodeURIComponent(field.replaceAll('+', ' '));
  return value.startsWith('[') || value.startsWith('{')
    ? value
    : Buffer.from(value, 'base64').toString('utf8');
};

export interface Collector {
  url: string;
  /** Requests that carried events, and what all of them weigh with their bodies (headers left out). */
  requests: number;
  bytes: number;
  preflights: number;
  /** How often each event came, by its number. For us: what the service stored, where repeats are removed. */
  received(): Map<string, number>;
  /** How often events came again that had come before, stored twice or not. */
  repeats(): number;
  /** Answers no more and ends open connections, until `start`. */
  stop(): Promise<void>;
  start(): Promise<void>;
  reset(): void;
  close(): Promise<void>;
}

/** Takes what every subject sends: our API through the fake service, the peers' by answering that all went well. */
export const startCollector = async (): Promise<Collector> => {
  const service = createFakeService({ banners: { hero: aBanner('hero', { title: 'Sale' }) } });
  let markers = new Map<string, number>();
  const collector = { requests: 0, bytes: 0, preflights: 0 };

  const read = async (message: IncomingMessage): Promise<Buffer> => {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  };

  const peersAnswer = (path: string): string => {
    if (path.includes('/data'))
      return '{"config":{"time":1,"events_blacklist":[],"attributes_blacklist":[],"purchases_blacklist":[],"messaging_session_timeout":null,"content_cards":{"enabled":false},"feature_flags":{"enabled":false},"banners":{"enabled":false}}}';
    if (path.startsWith('/track') || path.startsWith('/engage')) return '{"status":1,"error":null}';
    return '{"success":true}';
  };

  const create = (port: number): Promise<Server> =>
    new Promise((resolve, reject) => {
      const server = createServer(async (message, response) => {
        const { method = 'GET', url = '/' } = message;
        const origin = message.headers.origin ?? '*';
        const cors = {
          ...CORS,
          'access-control-allow-origin': origin,
          'access-control-allow-credentials': 'true',
          // With credentials a star means a header of that name.
          'access-control-allow-headers':
            message.headers['access-control-request-headers'] ?? CORS['access-control-allow-headers'],
        };
        if (method === 'OPTIONS') {
          collector.preflights += 1;
          response.writeHead(204, cors).end();
          return;
        }
        try {
          const body = await read(message);
          const ours = url.startsWith('/v1/device-messaging/');
          const found = ours ? [] : [...readable(body).matchAll(MARKER)].map(([, number]) => number!);
          if (found.length > 0 || url.endsWith('/banners/track')) {
            collector.requests += 1;
            collector.bytes += body.length;
          }
          for (const number of new Set(found)) markers.set(number, (markers.get(number) ?? 0) + 1);
          if (!ours) {
            response.writeHead(200, { ...cors, 'content-type': 'application/json' }).end(peersAnswer(url));
            return;
          }
          const request = new Request(`http://placard.test${url}`, {
            method,
            headers: {
              authorization: message.headers.authorization ?? '',
              'content-type': message.headers['content-type'] ?? '',
            },
            body: new Uint8Array(body),
          });
          const answer = await service.handle(request);
          response.writeHead(answer.status, Object.fromEntries(answer.headers));
          response.end(Buffer.from(await answer.arrayBuffer()));
        } catch {
          // A page that is gone in the middle of a request: there is nobody to answer.
          message.socket.destroy();
        }
      });
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => resolve(server));
    });

  let server: Server | undefined = await create(0);
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    const closing = server;
    server = undefined;
    if (!closing) return;
    await new Promise<void>((resolve) => {
      closing.close(() => resolve());
      closing.closeAllConnections();
    });
  };
  return {
    url: `http://127.0.0.1:${port}`,
    get requests() {
      return collector.requests;
    },
    get bytes() {
      return collector.bytes;
    },
    get preflights() {
      return collector.preflights;
    },
    received() {
      const all = new Map(markers);
      for (const event of service.events) {
        if (event.type === 'click') all.set(`${event.userId} ${event.time}`, 1);
      }
      return all;
    },
    repeats: () =>
      [...markers.values(), ...service.events.map(({ copies }) => copies)].reduce(
        (sum, copies) => sum + copies - 1,
        0,
      ),
    stop,
    async start() {
      server ??= await create(port);
    },
    reset() {
      markers = new Map();
      service.clear();
      Object.assign(collector, { requests: 0, bytes: 0, preflights: 0 });
    },
    close: stop,
  };
};
