import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createPlacard, type Inspector, type PlacardOptions } from '../../src/client/index.ts';
import { openDevtools } from '../../src/devtools/index.ts';
import { type FakePlacard, fakePlacard } from '../helpers/fake-placard.ts';
import { patience } from '../helpers/patience.ts';
import { anInspection } from './states.ts';

const PATIENCE = { timeout: patience(15_000) };
const inspector: Inspector = {
  read: () => anInspection({ recent: [{ at: 1, notice: { type: 'delivered', events: [] } }] }),
  focus: () => undefined,
  setSandbox: () => undefined,
  preview: async () => undefined,
};

let fake: FakePlacard;
beforeEach(() => {
  fake = fakePlacard();
  Object.assign(fake.placard, {
    inspect: async () => inspector,
    diagnostics: async () => ({ captured: 0 }),
    deadLetters: async () => [],
  });
  localStorage.clear();
  sessionStorage.clear();
  history.replaceState(null, '', '/');
});
const closes: (() => void)[] = [];
const open = (...values: Parameters<typeof openDevtools>) => {
  const close = openDevtools(...values);
  closes.push(close);
  return close;
};
afterEach(() => {
  for (const close of closes.splice(0)) close();
  vi.restoreAllMocks();
});

const host = () => document.querySelector('placard-devtools');
const opened = () => vi.waitFor(() => expect(host()).not.toBeNull(), PATIENCE);

test('opens in the page and removes all its elements on close', async () => {
  const close = open(fake.placard);
  await opened();
  expect(fake.listeners.size).toBe(1);
  close();
  expect(host()).toBeNull();
  expect(fake.listeners.size).toBe(0);
});

test('opens in a given element, without a window', async () => {
  const container = document.body.appendChild(document.createElement('div'));
  open(fake.placard, { container });
  await opened();
  expect(container.firstElementChild).toBe(host());
  expect(host()!.shadowRoot!.querySelector('.window')).toBeNull();
  container.remove();
});

test('closes if close() is called before it has loaded', async () => {
  const close = open(fake.placard);
  close();
  await import('../../src/devtools/panel.ts');
  await Promise.resolve();
  expect(host()).toBeNull();
  expect(fake.listeners.size).toBe(0);
});

test('opens by the URL only if the host allows it, and stays open for the tab until it is closed', async () => {
  open(fake.placard, { activation: 'query' });
  expect(fake.listeners.size).toBe(0);
  history.replaceState(null, '', '/?placard-devtools');
  open(fake.placard, { activation: 'query' })();
  history.replaceState(null, '', '/next');
  open(fake.placard, { activation: 'query' });
  await opened();
  const closing = host()!.shadowRoot!.querySelector<HTMLElement>('[data-icon="close"]')!;
  closing.click();
  expect(host()).toBeNull();
  open(fake.placard, { activation: 'query' });
  expect(fake.listeners.size).toBe(0);
});

test('reports a client that cannot be inspected', async () => {
  Object.assign(fake.placard, { inspect: async () => null });
  open(fake.placard);
  await opened();
  expect(host()!.shadowRoot!.textContent).toContain('all its chunks are served');
});

test('reports why the client is disabled if its options are invalid', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  open(createPlacard({ endpoint: 'https://api.example' } as PlacardOptions));
  await opened();
  expect(host()!.shadowRoot!.textContent).toMatch(/Placard is off: .*apiKey/);
});

test('does not throw into the page if it fails to load, and logs the failure', async () => {
  const error = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  Object.assign(fake.placard, { inspect: () => Promise.reject(new Error('no chunk')) });
  open(fake.placard);
  await vi.waitFor(() => expect(error).toHaveBeenCalledOnce(), PATIENCE);
  expect(error.mock.calls[0]![0]).toMatch(/Check that their chunk is served/);
  expect(fake.listeners.size).toBe(0);
});

test('receives new notices, and earlier ones that the client has kept', async () => {
  open(fake.placard);
  fake.notify({ type: 'consent', state: 'enabled' });
  fake.notify({ type: 'changed' });
  await opened();
  const tabs = [...host()!.shadowRoot!.querySelectorAll<HTMLElement>('[role="tab"]')];
  tabs.find((tab) => tab.textContent === 'Log')!.click();
  const lines = [...host()!.shadowRoot!.querySelectorAll<HTMLElement>('[data-notice]')];
  expect(lines.map(({ dataset }) => dataset['notice'])).toEqual(['consent', 'delivered']);
});
