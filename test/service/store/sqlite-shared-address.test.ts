import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { UserRepository } from '../../../src/service/profiles/user-repository.ts';
import { anSqliteQueue } from './an-sqlite-queue.ts';
import { byExternalId, NOW } from './examples.ts';

const ADDRESS = { by: 'email', value: 'all@example.org' } as const;
/** More than two pages of a group. */
const SHARERS = 2_500;

/** Queue with an empty cache, on a file with users who share an address. */
const aColdQueue = async (maxCharacters = 1e6) => {
  const folder = mkdtempSync(join(tmpdir(), 'placard-shared-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'placard.db');
  const filled = anSqliteQueue({ file });
  await filled.queue.write({
    workspaceId: 'demo',
    lookups: [],
    nowMs: NOW,
    apply(users) {
      for (let n = 0; n < SHARERS; n += 1) users.create({ externalId: `u-${n}`, email: ADDRESS.value }, NOW);
    },
  });
  filled.database.close();
  const cold = anSqliteQueue({ file, maxCharacters });
  onTestFinished(() => cold.database.close());
  return cold;
};

const countSharers = ({ queue }: Pick<ReturnType<typeof anSqliteQueue>, 'queue'>) =>
  queue.write({
    workspaceId: 'demo',
    lookups: [ADDRESS],
    nowMs: NOW,
    apply: (users) => new Set(users.find(ADDRESS).map(({ externalId }) => externalId)).size,
  });

test('yields to other requests while a group reads the users of a shared address', async () => {
  const cold = await aColdQueue();
  let turns = 0;
  let isApplied = false;
  const applied = cold.queue.write({
    workspaceId: 'demo',
    lookups: [ADDRESS],
    nowMs: NOW,
    apply(users) {
      isApplied = true;
      return users.find(ADDRESS).length;
    },
  });
  // The queue starts the group in the next turn.
  await nextTurn();
  while (!isApplied) {
    turns += 1;
    await nextTurn();
  }
  expect(await applied).toBe(SHARERS);
  expect(turns).toBeGreaterThanOrEqual(2);
});

/** Moves one user to another address, merges one, and creates three. */
const changeSharers = (users: UserRepository) => {
  const find = (externalId: string) => users.find(byExternalId(externalId))[0]!;
  const moved = find('u-1');
  moved.email = 'moved@example.org';
  users.changed(moved, NOW);
  users.merge(find('u-2'), find('u-2400'), NOW);
  for (const externalId of ['new-1', 'new-2', 'new-3'])
    users.create({ externalId, email: ADDRESS.value }, NOW);
};
const CHANGED = ['u-1', 'u-2', 'u-2400'];
const writeChanges = ({ queue }: Awaited<ReturnType<typeof aColdQueue>>) =>
  queue.write({
    workspaceId: 'demo',
    lookups: CHANGED.map(byExternalId),
    nowMs: NOW,
    apply: changeSharers,
  });

test.each(
  [0, 1, 2, 3, 4].flatMap((turns) => [1, 1e6].map((maxCharacters) => [turns, maxCharacters] as const)),
)(
  'reads the changes of a group committed %i turns later, with a cache of %i',
  async (turns, maxCharacters) => {
    const cold = await aColdQueue(maxCharacters);
    const written = Promise.withResolvers<void>();
    cold.disk.isReady = written.promise;
    const changed = writeChanges(cold);
    await vi.waitUntil(() => cold.disk.commits === 1);
    const counted = countSharers(cold);
    for (let turn = 0; turn < turns; turn += 1) await nextTurn();
    written.resolve();
    await changed;
    expect(await counted).toBe(SHARERS + 1);
    expect(await countSharers(cold)).toBe(SHARERS + 1);
  },
);

test('reads the users again if the group before fails', async () => {
  const cold = await aColdQueue();
  const written = Promise.withResolvers<void>();
  Object.assign(cold.disk, { isReady: written.promise, problem: 'The disk is full' });
  const changed = writeChanges(cold);
  await vi.waitUntil(() => cold.disk.commits === 1);
  // Only the first write fails.
  cold.disk.problem = null;
  const counted = countSharers(cold);
  await nextTurn();
  written.resolve();
  await expect(changed).rejects.toThrow('The disk is full');
  expect(await counted).toBe(SHARERS);
});
