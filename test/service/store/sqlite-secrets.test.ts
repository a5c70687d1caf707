import { expect, test } from 'vitest';
import { createCommitQueue } from '../../../src/service/store/sqlite/commit-queue.ts';
import type { Reader } from '../../../src/service/store/sqlite/reader.ts';
import { createSecrets } from '../../../src/service/store/sqlite/secrets.ts';

test('a secret that is stored is told while nothing can be written', async () => {
  const queue = createCommitQueue({
    seal: () => undefined,
    onFailure: () => undefined,
    committer: {
      commit: () => Promise.reject(new Error('disk full')),
      close: async () => undefined,
    },
  });
  const reader = { secret: (workspaceId) => (workspaceId === 'known' ? 'secret' : undefined) } as Reader;
  const secrets = createSecrets(reader, queue);
  expect(await secrets.of('known')).toBe('secret');
  await expect(secrets.of('new')).rejects.toThrow('disk full');
});
