// @vitest-environment node
import { afterEach, expect, test, vi } from 'vitest';
import {
  createWorkerHandoff,
  type WorkerContainer,
  workerMessages,
} from '../../../../src/client/delivery/worker-handoff.ts';
import { logName } from '../../../../src/client/options/options.ts';
import { installDelivery } from '../../../../src/client/service-worker.ts';
import type { ProvideToken } from '../../../../src/client/user/token-source.ts';
import { createFaultyStore } from '../../../../src/testing/index.ts';
import { createWorld, type TabSetup, type World } from '../world.ts';

const OUTBOX = 'placard-outbox-1';
const { syncTag, ping, pong, send } = workerMessages(OUTBOX, false);

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const createContainer = () => {
  const listeners = new Map<string, Set<(event: { data?: unknown }) => void>>();
  const posted: unknown[] = [];
  const tags: string[] = [];
  const container: WorkerContainer = {
    controller: { postMessage: (message) => posted.push(message) },
    ready: Promise.resolve({ scope: '/', sync: { register: async (tag: string) => void tags.push(tag) } }),
    addEventListener: (type, listener) =>
      listeners.set(type, (listeners.get(type) ?? new Set()).add(listener)),
    removeEventListener: (type, listener) => listeners.get(type)?.delete(listener),
  };
  const tell = (type: string, data?: unknown) => {
    for (const listener of listeners.get(type) ?? []) listener({ data });
  };
  const count = () => [...listeners.values()].reduce((sum, set) => sum + set.size, 0);
  return { container, posted, tags, tell, count };
};

test('ignores a worker until it confirms that it runs the sender', async () => {
  const { container, posted, tags, tell } = createContainer();
  const handOff = createWorkerHandoff(OUTBOX, false, container);
  expect(posted).toEqual([ping]);
  expect(handOff.handOff()).toBe(false);
  for (const other of ['something else', workerMessages('placard-outbox-2', false).pong]) {
    tell('message', other);
    expect(handOff.handOff()).toBe(false);
  }
  tell('message', pong);
  expect(handOff.handOff()).toBe(true);
  expect(posted).toEqual([ping, send]);
  await Promise.resolve();
  await Promise.resolve();
  expect(tags).toEqual([syncTag]);
});

test('queries a new worker again', () => {
  const { container, posted, tell } = createContainer();
  const handOff = createWorkerHandoff(OUTBOX, false, container);
  tell('message', pong);
  tell('controllerchange');
  expect(handOff.handOff()).toBe(false);
  expect(posted).toEqual([ping, ping]);
});

test('sends only the message if background sync is denied or missing', async () => {
  for (const ready of [
    Promise.resolve({ scope: '/', sync: { register: () => Promise.reject(new Error('denied')) } }),
    Promise.resolve({ scope: '/' }),
  ]) {
    const { container, tell } = createContainer();
    const handOff = createWorkerHandoff(OUTBOX, false, { ...container, ready });
    tell('message', pong);
    expect(handOff.handOff()).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
  }
});

test('leaves no timers and no listeners after stop', () => {
  const { container, count } = createContainer();
  createWorkerHandoff(OUTBOX, false, container).stop();
  expect(count()).toBe(0);
});

/** A page whose worker holds the sender of `appId`. Returns the page's messages to it, and whether the worker sent. */
const leaveWithWorker = async (
  appId: string,
  setup: (world: World) => TabSetup = () => ({}),
  workerToken?: ProvideToken,
) => {
  // The worker finds no IndexedDB here, and would retry repeatedly.
  vi.useFakeTimers();
  const world = createWorld();
  const { container, posted, tell } = createContainer();
  const toWorker = new Map<string, (event: object) => void>();
  let kept = 0;
  vi.stubGlobal('addEventListener', (type: string, listener: (event: object) => void) =>
    toWorker.set(type, listener),
  );
  installDelivery({
    endpoint: world.service.origin,
    apiKey: 'client-key',
    appId,
    ...(workerToken && { userToken: workerToken }),
  });
  const source = { postMessage: (data: unknown) => queueMicrotask(() => tell('message', data)) };
  container.controller!.postMessage = (data) => {
    posted.push(data);
    toWorker.get('message')!({ data, source, waitUntil: () => (kept += 1) });
  };
  vi.stubGlobal('navigator', { onLine: true, serviceWorker: container });
  const tab = world.openTab(setup(world));
  await tab.userTokens.get('u1');
  await tab.capture('leaving');
  tab.tell('hidden');
  tab.tell('pagehide');
  await world.settle();
  return { sent: world.sent(), posted, kept };
};

test('leaves the exit flush to a worker of the same app', async () => {
  const { sent, posted, kept } = await leaveWithWorker('app-1');
  expect(sent).toEqual([]);
  expect(posted).toHaveLength(3);
  expect(kept).toBe(2);
});

test('sends the exit flush itself if the worker belongs to another app', async () => {
  const { sent, posted, kept } = await leaveWithWorker('another-app');
  expect(sent).toEqual([['leaving']]);
  expect(posted).toHaveLength(1);
  expect(kept).toBe(0);
});

test('case 41: a page in memory mode sends its own events, because its worker cannot read them', async () => {
  const { sent, kept } = await leaveWithWorker('app-1', (world) => {
    const store = createFaultyStore(world.disk.openStore(world.name));
    store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
    return { openStore: () => store };
  });
  expect(sent).toEqual([['leaving']]);
  expect(kept).toBe(0);
});

test.each([
  ['no tokens', undefined, [['leaving']], 0],
  ['tokens', () => 'a.b.c', [], 2],
] as const)(
  'a page with user tokens leaves the exit flush only to a worker with user tokens: one with %s',
  async (_, workerToken, sentByPage, keptByWorker) => {
    const { sent, posted, kept } = await leaveWithWorker(
      'app-1',
      () => ({ userToken: () => 'a.b.c' }),
      workerToken,
    );
    expect(posted[0]).toMatch(/with tokens/);
    expect(sent).toEqual(sentByPage);
    expect(kept).toBe(keptByWorker);
  },
);

test('a worker does not respond to pages after a wipe until the user opts in again', async () => {
  const heard = new Set<(event: { data: unknown }) => void>();
  vi.stubGlobal(
    'BroadcastChannel',
    class {
      addEventListener = (_: string, listener: (event: { data: unknown }) => void) => heard.add(listener);
      postMessage = () => undefined;
      close = () => undefined;
    },
  );
  let ask: (event: object) => void = () => undefined;
  vi.stubGlobal('addEventListener', (type: string, listener: typeof ask) => {
    if (type === 'message') ask = listener;
  });
  installDelivery({ endpoint: 'https://api.example', apiKey: 'client-key', appId: 'app-1' });
  const { ping: question } = workerMessages(logName('https://api.example', 'app-1'), false);
  const isThere = (): boolean => {
    const postMessage = vi.fn();
    ask({ data: question, source: { postMessage } });
    return postMessage.mock.calls.length > 0;
  };
  const tell = (data: unknown) => {
    for (const listener of heard) listener({ data });
  };
  expect(isThere()).toBe(true);
  tell({ type: 'consent', consent: 'wiped', decidedAt: Date.now() });
  expect(isThere()).toBe(false);
  tell({ type: 'consent', consent: 'enabled', decidedAt: Date.now() + 1 });
  expect(isThere()).toBe(true);
});
