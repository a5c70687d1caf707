import { expect, test } from 'vitest';
import { visitors } from '../../../src/client/additions.ts';
import type { PlacardOptions } from '../../../src/client/index.ts';
import { readOptions } from '../../../src/client/options/options.ts';

const OPTIONS = { endpoint: 'https://api.example', apiKey: 'k', appId: 'a', appVersion: '1', userId: 'u' };

const reading = (changes: Record<string, unknown>) => () =>
  readOptions({ ...OPTIONS, ...changes } as unknown as PlacardOptions);

test.each([
  ['endpoint', undefined],
  ['endpoint', 'api.example'],
  ['endpoint', 'ftp://api.example'],
  ['endpoint', 'https://'],
  ['apiKey', ''],
  ['apiKey', undefined],
  ['appId', ''],
  ['appId', 7],
  ['appVersion', undefined],
  ['appVersion', 'v'.repeat(256)],
  ['userId', undefined],
  ['use', [visitors]],
  ['use', [true]],
])('rejects an invalid %s (%s) with an error that contains its name', (option, value) => {
  expect(reading({ [option]: value })).toThrow(`Option "${option}" must be`);
});

test.each(['US-09', 'toString', ''])(
  'rejects an unknown instance (%s) with an error, and does not guess a host',
  (instance) => {
    expect(reading({ endpoint: undefined, instance })).toThrow('Option "instance" must be a known instance');
  },
);

test('resolves an instance to its host', () => {
  const { endpoint: _, ...rest } = OPTIONS;
  expect(readOptions({ ...rest, instance: 'EU-01' }).endpoint).toBe('https://rest.fra-01.braze.eu');
});

test('removes the trailing slash of an endpoint and keeps its path', () => {
  expect(readOptions({ ...OPTIONS, endpoint: 'http://127.0.0.1:8787/base/' }).endpoint).toBe(
    'http://127.0.0.1:8787/base',
  );
});

test('counts the characters of an app version, not UTF-16 units', () => {
  expect(readOptions({ ...OPTIONS, appVersion: '🎈'.repeat(255) }).appVersion).toHaveLength(510);
});

test('uses defaults for missing options, and keeps given ones', () => {
  const now = () => 5;
  const settings = readOptions({ ...OPTIONS, platform: { now } });
  expect(settings.platform.now).toBe(now);
  expect(settings.platform.random()).toBeLessThan(1);
  expect(settings.consent).toBe('enabled');
});

test('treats an undefined platform member as missing', () => {
  const platform = { now: undefined, random: undefined } as never;
  const settings = readOptions({ ...OPTIONS, platform });
  expect(settings.platform.now()).toBeGreaterThan(0);
  expect(settings.platform.random()).toBeLessThan(1);
});
