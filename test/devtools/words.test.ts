import { expect, test } from 'vitest';
import type { Notice } from '../../src/client/index.ts';
import { createCounters, describeQueue, nextAttempt } from '../../src/devtools/events-view.ts';
import { describeNotice } from '../../src/devtools/log-view.ts';
import { bannerDetails, explainCommand } from '../../src/devtools/slot-card.ts';
import { getBannerName, relativeTime } from '../../src/devtools/words.ts';
import { buildBanner } from '../helpers/a-banner.ts';
import { anInspection, aPanelState, diagnosticsOf, heard, NOW } from './states.ts';

const event = { type: 'click', bannerId: 'b', placementId: 'home_hero', userId: 'u', time: 1 } as const;

test.each<[Exclude<Notice, { type: 'changed' }>, tone: string, text: string]>([
  [
    { type: 'synced', placements: ['a', 'b'], banners: { a: buildBanner(), b: null } },
    'plain',
    'The service answered: a banner for a; none for b.',
  ],
  [
    { type: 'synced', placements: [], banners: {} },
    'plain',
    'The service answered: no placement that it knows.',
  ],
  [
    { type: 'shown', banner: buildBanner(), from: 'cache' },
    'good',
    'Drew home_hero from the cache, before any request.',
  ],
  [
    { type: 'shown', banner: buildBanner(), from: 'sync' },
    'good',
    'Drew home_hero with what the service had sent.',
  ],
  [
    { type: 'emptied', placementId: 'a', reason: 'expired' },
    'plain',
    'Left a empty: its banner has expired.',
  ],
  [{ type: 'tracked', event }, 'plain', 'The banner in home_hero was clicked. Stored on this device.'],
  [{ type: 'delivered', events: [event] }, 'good', 'One event delivered.'],
  [{ type: 'delivered', events: [event, event] }, 'good', '2 events delivered.'],
  [
    { type: 'skipped', event, reason: "'timestamp' is required", attempts: 1 },
    'wait',
    "The service skipped a click ('timestamp' is required). It goes again, one attempt older.",
  ],
  [
    { type: 'in-doubt', events: [event] },
    'wait',
    'One event sent without an answer: in doubt, sent again exactly as before.',
  ],
  [{ type: 'dropped', event, reason: 'evicted' }, 'bad', 'A click was pushed out: the store is full.'],
  [
    { type: 'waiting', untilMs: 1, reason: 'rate-limit' },
    'wait',
    'Waits, because the service asked for patience. Events stay on this device.',
  ],
  [
    { type: 'memory-mode', on: true },
    'bad',
    'The device’s storage cannot be used. Events live as long as this page.',
  ],
  [{ type: 'memory-mode', on: false }, 'good', 'The device’s storage is back.'],
  [{ type: 'consent', state: 'disabled' }, 'plain', 'Consent is disabled.'],
  [{ type: 'failed', kind: 'hook', message: 'The hook of "a" threw' }, 'bad', 'The hook of "a" threw.'],
])('%j: %s, %s', (notice, tone, text) => {
  expect(describeNotice(notice)).toEqual({ tone, text });
});

test.each([
  [{}, 'Nothing to send yet.'],
  [{ captured: 1, pending: 1 }, 'One event waits on this device.'],
  [{ captured: 3, pending: 1, inDoubt: 2 }, '3 events wait on this device.'],
  [{ captured: 2, delivered: 1, deadLetters: 1 }, 'All is sent but what was kept aside.'],
  [{ captured: 2, delivered: 2 }, 'Everything is delivered.'],
])('%j: %s', (changes, text) => {
  expect(describeQueue(diagnosticsOf(changes)).text).toBe(text);
});

test('the counters sum up the open events and hide empty ones', () => {
  const sum = createCounters(diagnosticsOf({ captured: 4, delivered: 2, inDoubt: 1, expired: 1 }));
  expect(sum.textContent).toBe('4 captured = 2 delivered + 0 waiting + 1 in doubt + 1 expired');
  expect(sum.dataset['holds']).toBe('true');
  expect(createCounters(diagnosticsOf({ captured: 2, delivered: 1 })).dataset['holds']).toBe('false');
});

const one = diagnosticsOf({ captured: 1, pending: 1 });
test.each([
  ['without pending events', {}, /with the next event/],
  ['without a response of the outbox', { diagnostics: null }, /has not answered/],
  ['without a wait', { diagnostics: one }, /in a moment/],
  ['without consent', { diagnostics: one, inspection: anInspection({ isActive: false }) }, /without consent/],
  [
    'after a wait that the service requested',
    {
      diagnostics: { ...one, waitingUntil: NOW + 12_000 },
      history: [
        heard({ type: 'waiting', untilMs: 1, reason: 'backoff' }),
        heard({ type: 'waiting', untilMs: NOW + 12_000, reason: 'rate-limit' }),
      ],
    },
    /^The next attempt goes in 12\ss: the service asked for patience\.$/,
  ],
  ['in memory mode', { diagnostics: { ...one, memoryMode: true } }, /moment\. They are in memory/],
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

test('lists the properties of a banner, whatever their names', () => {
  const properties = JSON.parse(
    '{"__proto__":{"type":"jsonobject","value":{"a":1}},"x":{"type":"number","value":2}}',
  );
  const rows = bannerDetails(buildBanner({ isTestSend: true, properties })).map((row) => row.textContent);
  expect(rows).toEqual([
    'Banner',
    'bnr-1',
    'Test send',
    'kept in memory, left out of reports',
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
