// @vitest-environment node
import { expect, test } from 'vitest';
import {
  type BroadcastChannelLike,
  createPageLifecycle,
  createTabChannel,
} from '../../../src/client/platform/page.ts';
import { createFakeLifecycle } from '../delivery/world.ts';

/** Links that record what they receive. */
const createLinks = () => {
  const open: { posted: unknown[]; tell: (data: unknown) => void }[] = [];
  return {
    open,
    link: (): BroadcastChannelLike => {
      const listeners: ((event: { data: unknown }) => void)[] = [];
      const entry = {
        posted: [] as unknown[],
        tell: (data: unknown) => {
          for (const listener of listeners) listener({ data });
        },
      };
      open.push(entry);
      return {
        postMessage: (message) => entry.posted.push(message),
        addEventListener: (_, listener) => listeners.push(listener),
        close: () => open.splice(open.indexOf(entry), 1),
      };
    },
  };
};

test('posts to other tabs and receives from them until it is stopped', () => {
  const { open, link } = createLinks();
  const channel = createTabChannel<string>('tabs', createFakeLifecycle().lifecycle, link);
  const heard: string[] = [];
  const stop = channel.subscribe((message) => heard.push(message));
  channel.post('hello');
  expect(open[0]!.posted).toEqual(['hello']);
  open[0]!.tell('from another tab');
  stop();
  open[0]!.tell('too late');
  expect(heard).toEqual(['from another tab']);
});

test('a listener that throws does not affect the page or other listeners', () => {
  const { open, link } = createLinks();
  const channel = createTabChannel<string>('tabs', createFakeLifecycle().lifecycle, link);
  const heard: string[] = [];
  channel.subscribe((message) => heard.push(`${message.length} characters`));
  channel.subscribe((message) => heard.push(String(message)));
  expect(() => open[0]!.tell(null)).not.toThrow();
  expect(heard).toEqual(['null']);
});

test('case 29: closes so that the browser accepts the page into the back/forward cache, and reopens after', () => {
  const { open, link } = createLinks();
  const page = createFakeLifecycle();
  const channel = createTabChannel<string>('tabs', page.lifecycle, link);
  const heard: string[] = [];
  channel.subscribe((message) => heard.push(message));
  page.tell('pagehide');
  expect(open).toHaveLength(0);
  channel.post('lost, and that is fine');
  page.tell('restored');
  expect(open).toHaveLength(1);
  open[0]!.tell('again');
  expect(heard).toEqual(['again']);
  channel.close();
  expect(open).toHaveLength(0);
  expect(page.listeners()).toBe(0);
});

test('does not post if channels are blocked', () => {
  const channel = createTabChannel<string>('tabs', createFakeLifecycle().lifecycle, () => {
    throw new DOMException('denied', 'SecurityError');
  });
  expect(() => channel.post('anything')).not.toThrow();
  channel.close();
});

test('connects to another platform channel of the same name', async () => {
  const [first, second] = [
    createTabChannel<string>('real', createFakeLifecycle().lifecycle),
    createTabChannel<string>('real', createFakeLifecycle().lifecycle),
  ];
  const heard = new Promise((resolve) => second.subscribe(resolve));
  first.post('over the platform');
  expect(await heard).toBe('over the platform');
  first.close();
  second.close();
});

test('without a document (Node, a service worker), treats the page as visible and does not emit events', async () => {
  const lifecycle = createPageLifecycle();
  expect(lifecycle.isVisible()).toBe(true);
  expect(lifecycle.isPrerendering()).toBe(false);
  await lifecycle.whenActivated();
  const stop = lifecycle.on('hidden', () => undefined);
  expect(stop).not.toThrow();
});
