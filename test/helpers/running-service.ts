import {
  createService,
  type Listening,
  type Log,
  listen,
  openStore,
  type Store,
} from '../../src/service/index.ts';
import { parseWorkspace } from '../../src/service/workspace/parse-workspace.ts';
import { createRegistry } from '../../src/service/workspace/workspace.ts';
import { CLIENT_KEY, SERVER_KEY } from './a-workspace.ts';
import { aDatabase } from './postgres.ts';

export interface Answered {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect the response body
  body: any;
}

export interface RunningService {
  url: string;
  serverKey: string;
  clientKey: string;
  store: Store;
  lines: Record<string, unknown>[];
  clock: { now: number };
  /** Sends a request over a real socket with `key` as the bearer token. */
  call(
    method: string,
    path: string,
    more?: { key?: string; headers?: Record<string, string>; body?: unknown },
  ): Promise<Answered>;
  /** Replaces the workspaces, as an edit of the files does. */
  reload(workspaces: unknown[]): void;
  stop(): Promise<void>;
}

/** A log that collects its lines. */
export const recordingLog = (lines: Record<string, unknown>[]): Log => {
  const at = (level: string) => (facts: Record<string, unknown>, message: string) => {
    lines.push({ level, ...facts, message });
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
};

export const readAnswer = async (response: Response): Promise<Answered> => {
  const text = await response.text();
  const isJson = (response.headers.get('content-type') ?? '').startsWith('application/json');
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text ? JSON.parse(text) : text,
  };
};

const toRegistry = (contents: readonly unknown[]) =>
  createRegistry(
    contents.map((content, index) => {
      const source = `workspaces[${index}]`;
      return { workspace: parseWorkspace(content, source), source };
    }),
  );

/** The service on a free loopback port with an in-memory store and a fixed clock. It stops without a drain delay. */
export const runService = async (
  workspaces: unknown[],
  options: { store?: Store; listen?: Parameters<typeof listen>[1]; metricsToken?: string } = {},
): Promise<RunningService> => {
  const lines: Record<string, unknown>[] = [];
  const clock = { now: Date.parse('2026-03-01T09:00:00Z') };
  const store = options.store ?? (await openStore(':memory:'));
  const log = recordingLog(lines);
  const { metricsToken } = options;
  let registry = toRegistry(workspaces);
  const service = createService({
    workspaces: { registry: () => registry, stop: () => undefined },
    store,
    now: () => clock.now,
    log,
    ...(metricsToken !== undefined && { metricsToken }),
  });
  const listening: Listening = await listen(service, { port: 0, log, lingerMs: 0, ...options.listen });
  return {
    url: listening.url,
    serverKey: SERVER_KEY,
    clientKey: CLIENT_KEY,
    store,
    lines,
    clock,
    call: async (method, path, { key, headers, body } = {}) => {
      const init: RequestInit = {
        method,
        headers: {
          // Node's own user agent counts as a bot, which results exclude.
          'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
      };
      if (body !== undefined) {
        init.body =
          typeof body === 'string' || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body);
      }
      return readAnswer(await fetch(listening.url + path, init));
    },
    reload(contents) {
      registry = toRegistry(contents);
    },
    stop: listening.stop,
  };
};

export const asServer = { key: SERVER_KEY };

/** Every kind of store, with a function that returns the address of an empty one. */
export const STORES: { name: string; address: () => Promise<string> }[] = [
  { name: 'SQLite', address: async () => ':memory:' },
  { name: 'PostgreSQL', address: aDatabase },
];

/** A store that services share; stopping one does not close it. */
export const keptOpen = (store: Store): Store => ({ ...store, close: async () => undefined });
