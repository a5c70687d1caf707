import { describe, expect, test } from 'vitest';
import { createKeyring, fingerprint } from '../../../src/client/credentials/credentials.ts';
import { createVirtualClock } from '../../../src/testing/index.ts';

describe('the key', () => {
  test('is requested once for concurrent calls, and again after it was removed', async () => {
    let calls = 0;
    const keyring = createKeyring(async () => {
      calls += 1;
      return `key-${calls}`;
    }, createVirtualClock().after);
    expect(keyring.current()).toBeUndefined();
    expect(await Promise.all([keyring.ask(), keyring.ask()])).toEqual(['key-1', 'key-1']);
    expect(keyring.current()).toBe('key-1');
    keyring.forget();
    expect(await keyring.ask()).toBe('key-2');
  });

  test('rejects after ten seconds without a key, and can be requested again', async () => {
    const clock = createVirtualClock();
    let answer: Promise<string> = new Promise(() => undefined);
    const keyring = createKeyring(() => answer, clock.after);
    const asking = expect(keyring.ask()).rejects.toThrow('timed out after 10000 ms');
    await clock.advance(10_000);
    await asking;
    answer = Promise.resolve('key');
    expect(await keyring.ask()).toBe('key');
  });

  test.each([[() => ''], [() => undefined as unknown as string], [() => Promise.reject(new Error('no'))]])(
    'must be a string: %s is an error',
    async (provide) => {
      await expect(createKeyring(provide, createVirtualClock().after).ask()).rejects.toThrow();
    },
  );

  test('is recognized by a fingerprint that does not reveal it', () => {
    expect(fingerprint('client-key')).toBe(fingerprint('client-key'));
    expect(fingerprint('client-key')).not.toBe(fingerprint('client-kez'));
    expect(fingerprint('client-key')).not.toContain('client');
  });
});
