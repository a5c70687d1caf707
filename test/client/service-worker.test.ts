// @vitest-environment node
import 'fake-indexeddb/auto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { workerMessages } from '../../src/client/delivery/worker-handoff.ts';
import type { Notice } from '../../src/client/index.ts';
import { logName } from '../../src/client/options/options.ts';
import { type InstallDeliveryOptions, installDelivery } from '../../src/client/service-worker.ts';

const USABLE = { endpoint: 'http://127.0.0.1:1', apiKey: 'client-key', appId: 'app' };

const listened: string[] = [];
const complained = vi.fn();
beforeEach(() => {
  listened.length = 0;
  complained.mockReset();
  vi.stubGlobal('addEventListener', (type: string) => listened.push(type));
  vi.stubGlobal('console', { ...console, error: complained });
});
afterEach(() => vi.unstubAllGlobals());

const install = (options: object) => {
  const notices: Notice[] = [];
  installDelivery({
    ...options,
    onNotice: (notice: Notice) => notices.push(notice),
  } as unknown as InstallDeliveryOptions);
  return notices;
};

test.each([
  ['endpoint', { endpoint: '' }],
  ['endpoint', { endpoint: 'ftp://example.test' }],
  ['endpoint', { endpoint: undefined }],
  ['instance', { endpoint: undefined, instance: 'XX-99' }],
  ['apiKey', { apiKey: '' }],
  ['apiKey', { apiKey: undefined }],
  ['appId', { appId: 5 }],
  ['appId', { appId: '' }],
])(
  'a worker whose option "%s" is invalid (%j) reports it without installing listeners or throwing',
  (name, change) => {
    const notices = install({ ...USABLE, ...change });
    expect(listened).toEqual([]);
    expect(notices).toMatchObject([
      { type: 'failed', kind: 'config', message: expect.stringContaining(`"${name}"`) },
    ]);
    expect(complained).toHaveBeenCalledExactlyOnceWith(expect.stringContaining(`"${name}"`));
  },
);

test('does not throw without options', () => {
  expect(() => installDelivery(undefined as never)).not.toThrow();
  expect(complained).toHaveBeenCalledOnce();
});

test.each([{}, { endpoint: undefined, instance: 'EU-01' }])(
  'installs the sender with valid options (%j)',
  (change) => {
    expect(install({ ...USABLE, ...change })).toEqual([]);
    expect(listened).toEqual(['message', 'sync']);
    expect(complained).not.toHaveBeenCalled();
  },
);

test('reports an invalid delivery option and uses its default', () => {
  expect(install({ ...USABLE, delivery: { timeoutMs: 0 } })).toMatchObject([
    { type: 'failed', kind: 'config', message: expect.stringContaining('"delivery.timeoutMs"') },
  ]);
  expect(listened).toEqual(['message', 'sync']);
});

test('treats a sync as failed if IndexedDB does not open', async () => {
  const open = vi.spyOn(indexedDB, 'open').mockImplementation(() => {
    throw new DOMException('denied', 'SecurityError');
  });
  const listeners = new Map<string, (event: object) => void>();
  vi.stubGlobal('addEventListener', (type: string, listener: (event: object) => void) =>
    listeners.set(type, listener),
  );
  install(USABLE);
  const { syncTag } = workerMessages(logName(USABLE.endpoint, USABLE.appId), false);
  const waited: Promise<unknown>[] = [];
  listeners.get('sync')!({ tag: syncTag, waitUntil: (work: Promise<unknown>) => waited.push(work) });
  await expect(Promise.all(waited)).rejects.toThrow('storage');
  open.mockRestore();
});

test('a listener that throws does not affect the worker or its other scripts', () => {
  const onNotice = () => {
    throw new Error('a bug of the host');
  };
  expect(() => installDelivery({ ...USABLE, endpoint: '', onNotice })).not.toThrow();
});
