import { expect, test } from 'vitest';
import { createCommitQueue } from '../../../src/service/store/sqlite/commit-queue.ts';
import type { Group } from '../../../src/service/store/sqlite/group.ts';

const onDisk = (seal: () => void = () => undefined) => {
  const disk = { isFull: false, isGone: false };
  const stored: Group[] = [];
  const queue = createCommitQueue({
    seal,
    onFailure: () => undefined,
    committer: {
      async commit(group) {
        if (disk.isGone) throw new Error('the thread has ended');
        if (disk.isFull && group.secrets.length > 0) throw new Error('disk full');
        stored.push(group);
      },
      close: async () => undefined,
    },
  });
  return { disk, queue, stored };
};

test('whoever asks whether the database answers hears so, though what was to be written beside it failed', async () => {
  const { disk, queue } = onDisk();
  disk.isFull = true;
  queue.group().secrets.push('w', 'secret');
  const written = queue.durable();
  const answered = queue.answered();
  await expect(written).rejects.toThrow('disk full');
  await expect(answered).resolves.toBeUndefined();
  disk.isGone = true;
  await expect(queue.answered()).rejects.toThrow('the thread has ended');
});

test('a group that cannot be sealed fails for those who wait for it, and the next is another', async () => {
  let isReadable = false;
  const { queue, stored } = onDisk(() => {
    if (!isReadable) throw new Error('disk I/O error');
  });
  queue.group().secrets.push('w', 'lost');
  await expect(queue.durable()).rejects.toThrow('disk I/O error');
  isReadable = true;
  queue.group().secrets.push('w', 'kept');
  await queue.durable();
  expect(stored.map(({ secrets }) => secrets)).toEqual([['w', 'kept']]);
  await queue.close();
});
