import { expect, test } from 'vitest';
import type { Reader } from '../../../src/service/store/sqlite/reader.ts';
import { createSecrets } from '../../../src/service/store/sqlite/secrets.ts';

test('a secret that is stored is answered while nothing can be written, and one that is not is tried again', async () => {
  let isFull = true;
  const committer = {
    commit: async () => {
      if (isFull) throw new Error('disk full');
    },
    close: async () => undefined,
  };
  const reader = { secret: (workspaceId) => (workspaceId === 'known' ? 'secret' : undefined) } as Reader;
  const secret = createSecrets(reader, committer);
  expect(await secret('known')).toBe('secret');
  await expect(secret('new')).rejects.toThrow('disk full');
  isFull = false;
  const made = await secret('new');
  expect(made).toMatch(/^[0-9a-f]{64}$/);
  expect(await secret('new')).toBe(made);
});
