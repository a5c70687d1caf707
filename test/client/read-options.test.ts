import { expect, test } from 'vitest';
import { ConfigError, type PlacardOptions } from '../../src/client/index.ts';
import { readOptions } from '../../src/client/read-options.ts';

const OPTIONS = { endpoint: 'https://api.example', apiKey: 'k', appId: 'a', appVersion: '1', userId: 'u' };

const errorOf = (changes: Record<string, unknown>): ConfigError => {
  try {
    readOptions({ ...OPTIONS, ...changes } as unknown as PlacardOptions);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
};

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
])('a wrong %s (%s) is an error that names it', (option, value) => {
  const error = errorOf({ [option]: value });
  expect(error.option).toBe(option);
  expect(error.message).toContain(`"${option}"`);
  expect(error.name).toBe('ConfigError');
});

test('an unknown instance is an error, and never a guessed host', () => {
  expect(errorOf({ endpoint: undefined, instance: 'US-09' }).option).toBe('instance');
  expect(errorOf({ endpoint: undefined, instance: 'toString' }).option).toBe('instance');
});

test('an instance stands for its host', () => {
  const { endpoint: _, ...rest } = OPTIONS;
  expect(readOptions({ ...rest, instance: 'EU-01' }).endpoint).toBe('https://rest.fra-01.braze.eu');
});

test('an endpoint loses its last slash and keeps its path', () => {
  expect(readOptions({ ...OPTIONS, endpoint: 'http://127.0.0.1:8787/base/' }).endpoint).toBe(
    'http://127.0.0.1:8787/base',
  );
});

test('an app version counts characters, not UTF-16 units', () => {
  expect(readOptions({ ...OPTIONS, appVersion: '🎈'.repeat(255) }).appVersion).toHaveLength(510);
});

test('what is not given has a default, what is given stays', () => {
  const now = () => 5;
  const settings = readOptions({ ...OPTIONS, platform: { now } });
  expect(settings.platform.now).toBe(now);
  expect(settings.platform.random()).toBeLessThan(1);
  expect(settings.consent).toBe('enabled');
});

test('an undefined piece of the platform is no choice', () => {
  const platform = { now: undefined, random: undefined } as never;
  const settings = readOptions({ ...OPTIONS, platform });
  expect(settings.platform.now()).toBeGreaterThan(0);
  expect(settings.platform.random()).toBeLessThan(1);
});
