import { describe, expect, test } from 'vitest';
import { fingerprint } from '../../../src/client/delivery/trouble/outcome-handler.ts';
import { createApiKeyProvider } from '../../../src/client/platform/http.ts';
import { createVirtualClock } from '../../../src/testing/index.ts';

describe('the key', () => {
  test('is requested once for concurrent calls, and again after it was removed', async () => {
    let calls = 0;
    const apiKeys = createApiKeyProvider(async () => {
      calls += 1;
      return `key-${calls}`;
    }, createVirtualClock().after);
    expect(apiKeys.current()).toBeUndefined();
    expect(await Promise.all([apiKeys.get(), apiKeys.get()])).toEqual(['key-1', 'key-1']);
    expect(apiKeys.current()).toBe('key-1');
    apiKeys.clear();
    expect(await apiKeys.get()).toBe('key-2');
  });

  test('rejects after ten seconds without a key, and can be requested again', async () => {
    const clock = createVirtualClock();
    let answer: Promise<string> = new Promise(() => undefined);
    const apiKeys = createApiKeyProvider(() => answer, clock.after);
    const asking = expect(apiKeys.get()).rejects.toThrow('timed out after 10000 ms');
    await clock.advance(10_000);
    await asking;
    answer = Promise.resolve('key');
    expect(await apiKeys.get()).toBe('key');
  });

  test.each([[() => ''], [() => undefined as unknown as string], [() => Promise.reject(new Error('no'))]])(
    'must be a string: %s is an error',
    async (provide) => {
      await expect(createApiKeyProvider(provide, createVirtualClock().after).get()).rejects.toThrow();
    },
  );

  test('is recognized by a fingerprint that does not reveal it', () => {
    expect(fingerprint('client-key')).toBe(fingerprint('client-key'));
    expect(fingerprint('client-key')).not.toBe(fingerprint('client-kez'));
    expect(fingerprint('client-key')).not.toContain('client');
  });
});
