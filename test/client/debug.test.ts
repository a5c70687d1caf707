import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { noticeText, SDK_VERSION } from '../../src/client/debug.ts';
import type { Notice } from '../../src/client/index.ts';
import { buildBanner } from '../helpers/a-banner.ts';
import { aSlot, open as openPage, PATIENCE } from './pages.ts';

beforeEach(() => {
  for (const level of ['info', 'warn'] as const) vi.spyOn(console, level).mockReturnValue();
});
afterEach(() => void vi.restoreAllMocks());

const lines = () =>
  (['info', 'warn'] as const).flatMap((level) =>
    vi.mocked(console[level]).mock.calls.map(([text]) => String(text)),
  );

const open = (debug?: boolean, more: { consent?: 'disabled'; userId?: string; appid?: string } = {}) => {
  const page = openPage({ ...(debug !== undefined && { debug }), ...more });
  page.placard.mount('home_hero', aSlot(), () => undefined);
  return page;
};

test('logs a greeting with version, user and mounted placements, then events', async () => {
  const { placard } = open(true);
  await vi.waitFor(() => expect(lines().join()).toContain('shown'), PATIENCE);
  expect(lines()[0]).toBe(
    `[placard] hello: version ${SDK_VERSION}, app app at http://placard.test, user u-1; mounted: home_hero (empty)`,
  );
  expect(lines()).toContain('[placard] sync response: home_hero: bnr-1');
  expect(lines()).toContain('[placard] home_hero: shown bnr-1 (sync)');
  placard.stop();
});

test('reports missing consent instead of a missing user in the greeting', async () => {
  const { placard } = open(true, { consent: 'disabled' });
  await vi.waitFor(() => expect(lines()[0]).toContain('hello'), PATIENCE);
  expect(lines()[0]).toContain(', no consent; mounted: home_hero (empty)');
  placard.stop();
});

test('logs events from before the printer was loaded', async () => {
  const { placard, notices } = open(true, { userId: '', appid: 'app' });
  placard.mount('sidebar', null as never, () => undefined);
  await vi.waitFor(() => expect(lines()[0]).toContain('hello'), PATIENCE);
  const failed = notices.filter((notice) => notice.type === 'failed');
  expect(failed.length).toBeGreaterThanOrEqual(3);
  for (const { kind, message } of failed) expect(lines()).toContain(`[placard] failed (${kind}): ${message}`);
  placard.stop();
});

test('logs a change once, with the current banner of each placement', async () => {
  const { placard, notices } = open(true);
  await vi.waitFor(() => expect(lines().join()).toContain('shown'), PATIENCE);
  const changes = () => lines().filter((line) => line.includes('changed'));
  expect(notices.filter(({ type }) => type === 'changed').length).toBeGreaterThan(1);
  expect(changes()).toEqual(['[placard] banners changed: home_hero (bnr-1)']);
  await placard.identify(null);
  expect(changes().slice(1)).toEqual(['[placard] banners changed: home_hero (empty)']);
  placard.stop();
});

test('does not log anything without debug', async () => {
  const { placard, notices } = open();
  await vi.waitFor(() => expect(notices.map(({ type }) => type)).toContain('shown'), PATIENCE);
  expect(lines()).toEqual([]);
  placard.stop();
});

test('logs the version of the package', () => {
  expect(SDK_VERSION).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version);
});

const event = { type: 'click', bannerId: 'bnr-1', placementId: 'home', userId: 'u-1', time: 0 } as const;
test.each<[Notice, string]>([
  [
    { type: 'synced', placements: ['a', 'b'], banners: { a: buildBanner(), b: null } },
    'sync response: a: bnr-1, b: none',
  ],
  [{ type: 'changed' }, 'banners changed: home (bnr-1)'],
  [{ type: 'hidden', placementId: 'home', reason: 'expired' }, 'home: hidden (expired)'],
  [{ type: 'tracked', event }, 'click of bnr-1 in home stored at 1970-01-01T00:00:00.000Z'],
  [
    { type: 'delivered', events: [event, event] },
    'delivered: click of bnr-1 in home, click of bnr-1 in home',
  ],
  [
    { type: 'rejected', event, reason: "Invalid 'id'", attempts: 2 },
    "click of bnr-1 in home rejected, attempt 2: Invalid 'id'",
  ],
  [{ type: 'in-doubt', events: [event] }, 'no readable response, outcome unknown: click of bnr-1 in home'],
  [{ type: 'dropped', event, reason: 'evicted' }, 'click of bnr-1 in home dropped (evicted)'],
  [
    { type: 'dropped', event, reason: 'rejected', detail: 'No' },
    'click of bnr-1 in home dropped (rejected): No',
  ],
  [
    { type: 'paused', untilMs: 0, reason: 'backoff' },
    'backoff: sending is paused until 1970-01-01T00:00:00.000Z',
  ],
  [
    { type: 'memory-mode', on: true, reason: 'denied' },
    'storage unavailable, events are kept in memory: denied',
  ],
  [{ type: 'memory-mode', on: false }, 'storage available again'],
  [{ type: 'consent', state: 'disabled' }, 'consent disabled'],
  [{ type: 'failed', kind: 'sync', message: 'No answer' }, 'failed (sync): No answer'],
])('formats a notice: %j', (notice, text) => {
  expect(noticeText(notice, 'home (bnr-1)')).toBe(text);
});

test('logs a failure as a warning, with its cause', async () => {
  const { placard, notices } = open(true);
  await vi.waitFor(() => expect(lines().join()).toContain('shown'), PATIENCE);
  const cause = new Error('Not today');
  placard.mount('home_hero', document.body.appendChild(document.createElement('div')), () => {
    throw cause;
  });
  expect(notices.at(-2)).toMatchObject({ type: 'failed', kind: 'hook' });
  expect(vi.mocked(console.warn).mock.calls).toContainEqual([
    '[placard] failed (hook): The hook of "home_hero" threw',
    cause,
  ]);
  placard.stop();
});
