// @vitest-environment node
import { expect, test } from 'vitest';
import {
  ARE_YOU_THERE,
  createHandOver,
  HERE,
  SEND,
  SYNC_TAG,
  type WorkerContainer,
} from '../../../src/client/delivery/hand-over.ts';

const createContainer = () => {
  const listeners = new Map<string, Set<(event: { data?: unknown }) => void>>();
  const posted: unknown[] = [];
  const tags: string[] = [];
  const container: WorkerContainer = {
    controller: { postMessage: (message) => posted.push(message) },
    ready: Promise.resolve({ sync: { register: async (tag: string) => void tags.push(tag) } }),
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

test('a worker counts only after it said that it holds our sender', async () => {
  const { container, posted, tags, tell } = createContainer();
  const handOver = createHandOver(container);
  expect(posted).toEqual([ARE_YOU_THERE]);
  expect(handOver.handOver()).toBe(false);
  tell('message', 'something else');
  expect(handOver.handOver()).toBe(false);
  tell('message', HERE);
  expect(handOver.handOver()).toBe(true);
  expect(posted).toEqual([ARE_YOU_THERE, SEND]);
  await Promise.resolve();
  await Promise.resolve();
  expect(tags).toEqual([SYNC_TAG]);
});

test('another worker is asked anew', () => {
  const { container, posted, tell } = createContainer();
  const handOver = createHandOver(container);
  tell('message', HERE);
  tell('controllerchange');
  expect(handOver.handOver()).toBe(false);
  expect(posted).toEqual([ARE_YOU_THERE, ARE_YOU_THERE]);
});

test('where background sync is denied or absent the message alone goes', async () => {
  for (const ready of [
    Promise.resolve({ sync: { register: () => Promise.reject(new Error('denied')) } }),
    Promise.resolve({}),
  ]) {
    const { container, tell } = createContainer();
    const handOver = createHandOver({ ...container, ready });
    tell('message', HERE);
    expect(handOver.handOver()).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
  }
});

test('without service workers, and after stop, nothing is left', () => {
  expect(createHandOver(undefined).handOver()).toBe(false);
  const { container, count } = createContainer();
  createHandOver(container).stop();
  expect(count()).toBe(0);
});
