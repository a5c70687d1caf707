import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { LifecycleEvent, PageLifecycle } from '../../src/client/index.ts';
import { createHostLifecycle } from '../../src/webview/host-lifecycle.ts';
import { readHostMessage } from '../../src/webview/host-message.ts';
import { createWebviewHost } from '../../src/webview/index.ts';
import { type FakePlacard, fakePlacard } from '../helpers/fake-placard.ts';
import { patience } from '../helpers/patience.ts';

type Bridge = { receive(message: unknown): void };
const bridge = (name = 'PlacardBridge') => Reflect.get(globalThis, name) as Bridge | undefined;

/** A native object that throws unless called as its own method, like real ones. */
const nativeObject = () => {
  const posted: unknown[] = [];
  const native = {
    postMessage(this: unknown, message: unknown) {
      if (this !== native) throw new TypeError('Illegal invocation');
      posted.push(message);
    },
  };
  return { native, posted };
};

let fake: FakePlacard;
beforeEach(() => {
  fake = fakePlacard();
});
afterEach(() => vi.unstubAllGlobals());

describe('finding the host', () => {
  test('posts objects to a WKWebView', () => {
    const { native, posted } = nativeObject();
    vi.stubGlobal('webkit', { messageHandlers: { Placard: native } });
    const host = createWebviewHost();
    expect(host.isAvailable()).toBe(true);
    host.connect(fake.placard)();
    expect(posted).toEqual([{ type: 'ready' }]);
  });

  test('posts text to an Android WebView', () => {
    const { native, posted } = nativeObject();
    vi.stubGlobal('Placard', native);
    createWebviewHost().connect(fake.placard)();
    expect(posted).toEqual(['{"type":"ready"}']);
  });

  test('finds an object added late, under the name that the host chose', () => {
    const { native, posted } = nativeObject();
    const host = createWebviewHost({ name: 'Shop' });
    const disconnect = host.connect(fake.placard);
    expect(host.isAvailable()).toBe(false);
    vi.stubGlobal('Shop', native);
    fake.notify({ type: 'consent', state: 'enabled' });
    expect(posted).toEqual(['{"type":"notice","notice":{"type":"consent","state":"enabled"}}']);
    disconnect();
  });

  test('does not treat a frame of the page with the name as a host', () => {
    vi.stubGlobal('Placard', globalThis.window);
    expect(createWebviewHost().isAvailable()).toBe(false);
  });

  test('finds no host in an ordinary browser, and does not throw', () => {
    const host = createWebviewHost();
    const disconnect = host.connect(fake.placard);
    fake.notify({ type: 'consent', state: 'enabled' });
    expect(host.isAvailable()).toBe(false);
    disconnect();
  });
});

test.each([
  ['WKWebView', (native: object) => vi.stubGlobal('webkit', { messageHandlers: { Placard: native } })],
  ['Android WebView', (native: object) => vi.stubGlobal('Placard', native)],
])(
  'a %s that returns a rejected promise does not cause an unhandled rejection in the page',
  async (_, add) => {
    const rejections = vi.fn();
    process.on('unhandledRejection', rejections);
    try {
      let posted = 0;
      add({
        postMessage() {
          posted += 1;
          return Promise.reject(new Error('no reply'));
        },
      });
      const disconnect = createWebviewHost().connect(fake.placard);
      fake.notify({ type: 'consent', state: 'enabled' });
      expect(posted).toBe(2);
      // Node reports unhandled rejections after its microtasks.
      await new Promise((resolve) => setImmediate(resolve));
      expect(rejections).not.toHaveBeenCalled();
      disconnect();
    } finally {
      process.off('unhandledRejection', rejections);
    }
  },
);

describe('links', () => {
  test('are opened by the host with their absolute URL', () => {
    const { native, posted } = nativeObject();
    vi.stubGlobal('webkit', { messageHandlers: { Placard: native } });
    createWebviewHost().navigate('mailto:shop@example.org');
    expect(posted).toEqual([{ type: 'open-link', url: 'mailto:shop@example.org' }]);
  });

  test('are left to the browser without a host', () => {
    const assign = vi.spyOn(window.location, 'assign').mockReturnValue(undefined);
    createWebviewHost().navigate('https://shop.example/linen');
    expect(assign).toHaveBeenCalledWith('https://shop.example/linen');
    assign.mockRestore();
  });
});

describe('D links of a host that has disconnected', () => {
  const gone = () => {
    throw new Error('Java object is gone');
  };
  test.each([
    ['whose object throws', { Placard: { postMessage: gone } }],
    ['that cannot be accessed', { webkit: Object.defineProperty({}, 'messageHandlers', { get: gone }) }],
  ])('are left to the browser: one %s', (_, globals) => {
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
    const assign = vi.spyOn(window.location, 'assign').mockReturnValue(undefined);
    createWebviewHost().navigate('https://shop.example/linen');
    expect(assign).toHaveBeenCalledExactlyOnceWith('https://shop.example/linen');
    assign.mockRestore();
  });
});

describe('messages of the host', () => {
  test.each([
    ['an object', (message: unknown) => message],
    ['text', (message: unknown) => JSON.stringify(message)],
  ])('are executed, as %s', (_, written) => {
    const disconnect = createWebviewHost().connect(fake.placard);
    bridge()?.receive(written({ type: 'identify', userId: 'u-1' }));
    bridge()?.receive(written({ type: 'identify', userId: null }));
    bridge()?.receive(written({ type: 'refresh' }));
    bridge()?.receive(written({ type: 'flush' }));
    expect(fake.calls).toEqual(['identify "u-1"', 'identify null', 'refresh', 'flush']);
    disconnect();
  });

  test('get an error response, and do not throw into the native code', () => {
    const { native, posted } = nativeObject();
    vi.stubGlobal('webkit', { messageHandlers: { Placard: native } });
    const disconnect = createWebviewHost({ notices: [] }).connect(fake.placard);
    bridge()?.receive('{"type":');
    bridge()?.receive({ type: 'identify', userId: 5 });
    bridge()?.receive({ type: '__proto__' });
    expect(fake.calls).toEqual([]);
    expect(posted.slice(1).map((message) => (message as { type: string }).type)).toEqual([
      'error',
      'error',
      'error',
    ]);
    disconnect();
  });

  test.each([
    ['a value without text', Object.create(null)],
    [
      'an error without a message',
      Object.defineProperty(new Error(), 'message', { value: Symbol('no text') }),
    ],
    [
      'an error that throws',
      Object.defineProperty(new Error(), 'message', {
        get() {
          throw new Error('again');
        },
      }),
    ],
  ])('get an error response if they throw %s', (_, thrown) => {
    const { native, posted } = nativeObject();
    vi.stubGlobal('webkit', { messageHandlers: { Placard: native } });
    const disconnect = createWebviewHost({ notices: [] }).connect(fake.placard);
    bridge()?.receive({
      get type() {
        throw thrown;
      },
    });
    expect(posted.slice(1)).toEqual([
      { type: 'error', message: expect.stringContaining('The message was not understood: ') },
    ]);
    disconnect();
  });

  test('are ignored after the connection ends', () => {
    const disconnect = createWebviewHost().connect(fake.placard);
    disconnect();
    expect(bridge()).toBeUndefined();
    expect(fake.listeners.size).toBe(0);
  });

  test('go to the latest connection', () => {
    const next = fakePlacard();
    const first = createWebviewHost().connect(fake.placard);
    const second = createWebviewHost().connect(next.placard);
    first();
    bridge()?.receive({ type: 'refresh' });
    expect(next.calls).toEqual(['refresh']);
    second();
  });
});

test('the end of an older connection does not resume a page that the host has paused', () => {
  const host = createWebviewHost();
  const first = host.connect(fake.placard);
  const second = host.connect(fakePlacard().placard);
  bridge()?.receive({ type: 'paused' });
  first();
  expect(host.lifecycle.isVisible()).toBe(false);
  second();
  expect(host.lifecycle.isVisible()).toBe(true);
});

test('accepts the token of a preview link from the host', async () => {
  const shown: string[] = [];
  const preview = async (token: string) => void shown.push(token);
  Object.assign(fake.placard, { inspect: async () => ({ preview }) });
  const disconnect = createWebviewHost().connect(fake.placard);
  bridge()?.receive({ type: 'preview', token: 'the-token' });
  await vi.waitFor(() => expect(shown).toEqual(['the-token']), { timeout: patience(30_000) });
  disconnect();
});

describe('a native side that throws', () => {
  test('does not affect the page, and its messages still apply', () => {
    const postMessage = () => {
      throw new Error('The webview was released');
    };
    vi.stubGlobal('webkit', { messageHandlers: { Placard: { postMessage } } });
    const host = createWebviewHost();
    const disconnect = host.connect(fake.placard);
    host.navigate('https://shop.example/linen');
    bridge()?.receive('{"type":');
    bridge()?.receive({ type: 'refresh' });
    expect(fake.calls).toEqual(['refresh']);
    disconnect();
    expect(bridge()).toBeUndefined();
  });
});

describe('messages', () => {
  test.each([
    ['null', null, 'expected an object'],
    ['an array', [], 'expected an object'],
    [
      'an unknown type',
      { type: 'eval' },
      'type: expected one of identify, preview, paused, resumed, refresh, flush',
    ],
    ['a missing user', { type: 'identify' }, 'userId: expected'],
    ['an empty user', { type: 'identify', userId: '' }, 'userId: expected'],
    ['a preview without its token', { type: 'preview', token: 7 }, 'token: expected'],
    ['text of 20,000 characters', `"${'x'.repeat(20_000)}"`, 'longer than 10000 characters'],
  ])('%s is rejected', (_, message, problem) => {
    expect(() => readHostMessage(message)).toThrow(problem);
  });

  test('keep only known members', () => {
    expect(readHostMessage({ type: 'identify', userId: 'u', admin: true })).toEqual({
      type: 'identify',
      userId: 'u',
    });
  });
});

describe('notices', () => {
  test('are limited to those that the host requested, with errors as text', () => {
    const { native, posted } = nativeObject();
    vi.stubGlobal('webkit', { messageHandlers: { Placard: native } });
    const disconnect = createWebviewHost({ notices: ['failed'] }).connect(fake.placard);
    fake.notify({ type: 'consent', state: 'enabled' });
    fake.notify({ type: 'failed', kind: 'sync', message: 'No answer', cause: new Error('offline') });
    expect(posted.slice(1)).toEqual([
      { type: 'notice', notice: { type: 'failed', kind: 'sync', message: 'No answer', cause: 'offline' } },
    ]);
    disconnect();
  });
});

describe('the lifecycle of a page inside an app', () => {
  const pageLifecycle = () => {
    const listeners: [LifecycleEvent, () => void][] = [];
    const state = { isVisible: true };
    const page: PageLifecycle = {
      isVisible: () => state.isVisible,
      isPrerendering: () => false,
      whenActivated: async () => undefined,
      on(moment, listener) {
        const entry: [LifecycleEvent, () => void] = [moment, listener];
        listeners.push(entry);
        return () => listeners.splice(listeners.indexOf(entry), 1);
      },
    };
    const tell = (moment: LifecycleEvent) => {
      if (moment === 'visible' || moment === 'hidden') state.isVisible = moment === 'visible';
      for (const [told, listener] of [...listeners]) if (told === moment) listener();
    };
    return { page, tell, count: () => listeners.length };
  };
  const listening = () => {
    const { page, tell, count } = pageLifecycle();
    const { lifecycle, setPaused } = createHostLifecycle(page);
    const heard: LifecycleEvent[] = [];
    const stops = (['visible', 'hidden', 'pagehide'] as const).map((moment) =>
      lifecycle.on(moment, () => heard.push(moment)),
    );
    const stop = () => {
      for (const each of stops) each();
    };
    return { lifecycle, setPaused, tell, heard, count, stop };
  };

  test('hides the page on pause and shows it on resume', () => {
    const { lifecycle, setPaused, heard } = listening();
    setPaused(true);
    setPaused(true);
    expect(lifecycle.isVisible()).toBe(false);
    setPaused(false);
    expect(lifecycle.isVisible()).toBe(true);
    expect(heard).toEqual(['hidden', 'visible']);
  });

  test('does not hide a paused page again when it becomes hidden', () => {
    const { setPaused, tell, heard, lifecycle } = listening();
    setPaused(true);
    tell('hidden');
    tell('visible');
    expect(lifecycle.isVisible()).toBe(false);
    expect(heard).toEqual(['hidden']);
    setPaused(false);
    expect(heard).toEqual(['hidden', 'visible']);
  });

  test('does not show a hidden page on resume', () => {
    const { setPaused, tell, heard, lifecycle } = listening();
    tell('hidden');
    setPaused(true);
    setPaused(false);
    expect(lifecycle.isVisible()).toBe(false);
    expect(heard).toEqual(['hidden']);
  });

  test('passes on all other events, and leaves no listeners after the end', () => {
    const { tell, heard, stop, count, setPaused } = listening();
    tell('pagehide');
    expect(heard).toEqual(['pagehide']);
    stop();
    setPaused(true);
    expect(count()).toBe(0);
    expect(heard).toEqual(['pagehide']);
  });

  test('pauses through the bridge when the host requests it', () => {
    const host = createWebviewHost();
    const disconnect = host.connect(fake.placard);
    bridge()?.receive({ type: 'paused' });
    expect(host.lifecycle.isVisible()).toBe(false);
    bridge()?.receive({ type: 'resumed' });
    expect(host.lifecycle.isVisible()).toBe(true);
    disconnect();
  });
});
