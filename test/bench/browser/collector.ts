import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { createService, openStore } from '../../../src/service/index.ts';

/** Marker in each event, by which events of any protocol are counted. */
export const getMarker = (number: number): string => `evt-${number}-end`;
const MARKER = /evt-(\d+)-end/g;

const CORS = {
  'access-control-allow-methods': 'GET, POST, OPTIONS',
  'access-control-allow-headers':
    '*, authorization, content-type, x-braze-api-key, x-braze-datarequest, x-requested-with, x-braze-triggersrequest, x-braze-contentcardsrequest, x-braze-feature-flags-request, x-braze-bannersrequest, braze-sync-retry-count, x-braze-last-req-ms-ago, x-braze-req-attempt, x-braze-req-tokens-remaining, sp-anonymous',
  'access-control-max-age': '600',
};

/** Decodes a body: gzip, form fields, base64. */
const readable = (body: Buffer): string => {
  const text = (body[0] === 0x1f && body[1] === 0x8b ? gunzipSync(body) : body).toString('utf8');
  const field = /(?:^|&)data=([^&]*)/.exec(text)?.[1];
  if (field === undefined) return text;
  const value = decodeURIComponent(field.replaceAll('+', ' '));
  return value.startsWith('[') || value.startsWith('{')
    ? value
    : Buffer.from(value, 'base64').toString('utf8');
};

/** Returns the events of our body without impressions of the slot. */
const eventsIn = (body: Buffer): number =>
  JSON.parse(body.toString('utf8')).events.filter(
    (event: { event_type: string }) => event.event_type === 'click',
  ).length;

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, each) => total + each, 0);

/** Our service with an in-memory store and one banner for everyone. */
const WORKSPACE = {
  workspace_id: 'bench',
  apps: [{ app_id: 'shop' }],
  api_keys: [{ type: 'client', key: 'client-key', permissions: ['banners.sync', 'banners.track'] }],
  campaigns: [
    {
      campaign_id: 'sale',
      status: 'active',
      placements: ['hero', 'side'],
      variants: [{ variant_id: 'a', properties: { title: { type: 'string', value: 'Sale' } } }],
    },
  ],
  limits: {
    banners_sync: { per_user: { requests: 1_000_000, window_seconds: 60 } },
    banners_track: { per_user: { requests: 1_000_000, window_seconds: 60 } },
  },
};

export interface Collector {
  url: string;
  /** Requests with events, and bytes of their bodies. */
  requests: number;
  bytes: number;
  preflights: number;
  /** Distinct events received: by number, or for us as the service stored them. */
  received(): Promise<number>;
  /** Repeated deliveries. */
  repeats(): Promise<number>;
  /** Events counted more than once: a peer's repeats, or for us what the service stored twice. */
  countedTwice(): Promise<number>;
  /** Closes the port until `start`. */
  stop(): Promise<void>;
  start(): Promise<void>;
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** Receives the requests of every subject: ours through the service, the peers' with a success response. */
export const startCollector = async (): Promise<Collector> => {
  let store = await openStore(':memory:');
  let service = createService({ workspaces: [WORKSPACE], store });
  /** Events in bodies that our service accepted, repeats included. */
  let accepted = 0;
  let markers = new Map<string, number>();
  const collector = { requests: 0, bytes: 0, preflights: 0 };

  /** Natural keys of the clicks that our service stored. */
  const stored = async (): Promise<string[]> => {
    const keys: string[] = [];
    for await (const row of store.exportBannerEvents(WORKSPACE.workspace_id)) {
      if (row.eventType === 'click') keys.push(`${row.externalId} ${row.bannerId} ${row.timeMs}`);
    }
    return keys;
  };

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
          // With credentials a star is not a wildcard.
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
          const answer = await service.fetch(request);
          if (answer.status === 202) accepted += eventsIn(body);
          response.writeHead(answer.status, Object.fromEntries(answer.headers));
          response.end(Buffer.from(await answer.arrayBuffer()));
        } catch {
          // The page was closed during the request.
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
    async received() {
      return markers.size + new Set(await stored()).size;
    },
    async repeats() {
      return sum(markers.values()) - markers.size + accepted - (await stored()).length;
    },
    async countedTwice() {
      const keys = await stored();
      return sum(markers.values()) - markers.size + keys.length - new Set(keys).size;
    },
    stop,
    async start() {
      server ??= await create(port);
    },
    async reset() {
      markers = new Map();
      accepted = 0;
      await service.close();
      store = await openStore(':memory:');
      service = createService({ workspaces: [WORKSPACE], store });
      Object.assign(collector, { requests: 0, bytes: 0, preflights: 0 });
    },
    async close() {
      await stop();
      await service.close();
    },
  };
};
