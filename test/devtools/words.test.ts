import { expect, test } from 'vitest';
import type { Notice } from '../../src/client/index.ts';
import { createCounters, describeQueue, nextAttempt } from '../../src/devtools/events-view.ts';
import { describeNotice } from '../../src/devtools/log-view.ts';
import { bannerDetails, explainCommand } from '../../src/devtools/slot-card.ts';
import { getBannerName, relativeTime } from '../../src/devtools/words.ts';
import { buildBanner } from '../helpers/a-banner.ts';
import { anInspection, aPanelState, getDiagnostics, heard, NOW } from './states.ts';

const event = { type: 'click', bannerId: 'b', placementId: 'home_hero', userId: 'u', time: 1 } as const;

test.each<[Exclude<Notice, { type: 'changed' }>, tone: string, text: string]>([
  [
    { type: 'synced', placements: ['a', 'b'], banners: { a: buildBanner(), b: null } },
    'plain',
    'Sync response: a banner for a; none for b.',
  ],
  [{ type: 'synced', placements: [], banners: {} }, 'plain', 'Sync response: no known placements.'],
  [{ type: 'shown', banner: buildBanner(), from: 'cache' }, 'good', 'Rendered home_hero from the cache.'],
  [{ type: 'shown', banner: buildBanner(), from: 'sync' }, 'good', 'Rendered home_hero from a sync.'],
  [{ type: 'hidden', placementId: 'a', reason: 'expired' }, 'plain', 'Hid a: banner expired.'],
  [{ type: 'tracked', event }, 'plain', 'The banner in home_hero was clicked. Stored on this device.'],
  [
    { type: 'tracked', event: { ...event, buttonId: 'details' } },
    'plain',
    'The banner in home_hero was clicked (details). Stored on this device.',
  ],
  [{ type: 'delivered', events: [event] }, 'good', 'One event delivered.'],
  [{ type: 'delivered', events: [event, event] }, 'good', '2 events delivered.'],
  [
    { type: 'rejected', event, reason: "'timestamp' is required", attempts: 1 },
    'wait',
    "The service rejected a click ('timestamp' is required). It will be retried.",
  ],
  [
    { type: 'in-doubt', events: [event] },
    'wait',
    'One event in doubt: no response. The same batch will be resent.',
  ],
  [{ type: 'dropped', event, reason: 'evicted' }, 'bad', 'A click was evicted: storage is full.'],
  [
    { type: 'paused', untilMs: 1, reason: 'rate-limit' },
    'wait',
    'Sending paused: rate limited. Events stay on this device.',
  ],
  [{ type: 'memory-mode', on: true }, 'bad', 'Storage is unavailable. Events are kept in memory.'],
  [{ type: 'memory-mode', on: false }, 'good', 'Storage is available again.'],
  [{ type: 'consent', state: 'disabled' }, 'plain', 'Consent is disabled.'],
  [{ type: 'failed', kind: 'hook', message: 'The hook of "a" threw' }, 'bad', 'The hook of "a" threw.'],
])('%j: %s, %s', (notice, tone, text) => {
  expect(describeNotice(notice)).toEqual({ tone, text });
});

test.each([
  [{}, 'No events yet.'],
  [{ captured: 1, pending: 1 }, 'One event pending.'],
  [{ captured: 3, pending: 1, inDoubt: 2 }, '3 events pending.'],
  [{ captured: 2, delivered: 1, deadLetters: 1 }, 'All sent, except dead letters.'],
  [{ captured: 2, delivered: 2 }, 'All events delivered.'],
])('%j: %s', (changes, text) => {
  expect(describeQueue(getDiagnostics(changes)).text).toBe(text);
});

test('sums up the open events in the counters and hides empty counters', () => {
  const sum = createCounters(getDiagnostics({ captured: 4, delivered: 2, inDoubt: 1, expired: 1 }));
  expect(sum.textContent).toBe('4 captured = 2 delivered + 0 pending + 1 in doubt + 1 expired');
  expect(sum.dataset['holds']).toBe('true');
  expect(createCounters(getDiagnostics({ captured: 2, delivered: 1 })).dataset['holds']).toBe('false');
});

const one = getDiagnostics({ captured: 1, pending: 1 });
test.each([
  ['without pending events', {}, /with the next event/],
  ['without a response of the outbox', { diagnostics: null }, /Loading/],
  ['without a wait', { diagnostics: one }, /in a moment/],
  ['without consent', { diagnostics: one, inspection: anInspection({ isActive: false }) }, /without consent/],
  [
    'after a wait that the service requested',
    {
      diagnostics: { ...one, pausedUntil: NOW + 12_000 },
      history: [
        heard({ type: 'paused', untilMs: 1, reason: 'backoff' }),
        heard({ type: 'paused', untilMs: NOW + 12_000, reason: 'rate-limit' }),
      ],
    },
    /^Next attempt in 12\ss \(rate limited\)\.$/,
  ],
  ['in memory mode', { diagnostics: { ...one, memoryMode: true } }, /moment\. .* events are in memory/],
])('reports the next attempt: %s', (_, changes, text) => {
  expect(nextAttempt(aPanelState(changes))).toMatch(text);
});

test.each([
  [-400, 'just now'],
  [-1_000, '1 s ago'],
  [-119_999, '1 min ago'],
  [-3 * 60 * 60_000, '3 h ago'],
  [-49 * 60 * 60_000, '2 d ago'],
  [400, 'in 1 s'],
  [8_000, 'in 8 s'],
])('formats %i ms from now as %s', (ms, text) => {
  expect(relativeTime(NOW + ms, NOW).replace('\u00a0', ' ')).toBe(text);
});

test('labels a banner with its headline, else its first text, else its ID', () => {
  const text = (value: string) => ({ type: 'string', value });
  expect(getBannerName(buildBanner({ properties: { body: text('Body'), headline: text('Head') } }))).toBe(
    'Head',
  );
  expect(
    getBannerName(buildBanner({ properties: { size: { type: 'number', value: 1 }, body: text('Body') } })),
  ).toBe('Body');
  expect(getBannerName(buildBanner({ properties: {} }))).toBe('bnr-1');
});

test('lists the properties of a banner with any name', () => {
  const properties = JSON.parse(
    '{"__proto__":{"type":"jsonobject","value":{"a":1}},"x":{"type":"number","value":2}}',
  );
  const rows = bannerDetails(buildBanner({ isTestSend: true, properties })).map((row) => row.textContent);
  expect(rows).toEqual([
    'Banner',
    'bnr-1',
    'Test send',
    'in memory, excluded from results',
    '__proto__ jsonobject',
    '{"a":1}',
    'x number',
    '2',
  ]);
});

test('quotes the explain command for a shell', () => {
  expect(explainCommand('mira', 'home_hero')).toBe('placard explain --user mira --placement home_hero');
  expect(explainCommand("o'neil $HOME", 'a b')).toBe(
    `placard explain --user 'o'\\''neil $HOME' --placement 'a b'`,
  );
});
