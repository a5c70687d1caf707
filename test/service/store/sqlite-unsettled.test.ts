// A request is stored as what it did, and the rows of its users follow later: nobody may ever see the difference.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import type { Profile } from '../../../src/service/profiles/profile.ts';
import type { UserSet } from '../../../src/service/profiles/user-set.ts';
import { openStore, openStoreReader, type Store } from '../../../src/service/store/index.ts';
import fc from '../../helpers/property.ts';
import { byExternalId, collect } from './contract.ts';
import { openKept } from './kept.ts';
import { NOW, perform, plainUsers, seen, step, USERS } from './steps.ts';

const folder = mkdtempSync(join(tmpdir(), 'placard-unsettled-'));
afterEach(() => void vi.useRealTimers());
afterAll(() => rmSync(folder, { recursive: true }));

const compare = async (store: Store, file: string, profiles: Profile[]) => {
  expect(seen(await collect(store.exportUsers('demo')))).toEqual(seen(profiles));
  const lookups = profiles.map(({ externalId }) => byExternalId(externalId!));
  expect(seen(await store.readUsers('demo', lookups))).toEqual(seen(profiles));
  for (let each = 0; each < USERS; each += 1) {
    const { profile } = await store.bannerUser('demo', `u-${each}`);
    expect(seen(profile ? [profile] : [])).toEqual(
      seen(profiles.filter(({ externalId }) => externalId === `u-${each}`)),
    );
  }
  // Another process, for all that the file knows.
  const reader = await openStoreReader(file);
  expect(seen(await collect(reader.exportUsers('demo')))).toEqual(seen(profiles));
  expect(seen(await reader.readUsers('demo', lookups))).toEqual(seen(profiles));
  await reader.close();
};

test('whatever was done, in whatever order, every reader sees the users as they are', async () => {
  let files = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
      files += 1;
      const file = join(folder, `${files}.db`);
      let store = await openStore(file);
      const plain = plainUsers();
      let writes: Promise<unknown>[] = [];
      for (const [index, next] of [...steps, { do: 'compare' } as const].entries()) {
        if (next.do === 'reopen') {
          await Promise.all(writes);
          await store.close();
          store = await openStore(file);
        } else if (next.do === 'compare') {
          await Promise.all(writes);
          writes = [];
          await compare(store, file, plain.all());
        } else if (next.do === 'ask') {
          // In the midst of the writes: whatever memory keeps of it, a later question must not hear it again.
          writes.push(store.bannerUser('demo', `u-${next.user}`));
        } else {
          const write = store.writeUsers({
            workspaceId: 'demo',
            lookups: [],
            nowMs: NOW + index,
            apply: (users) => perform(users, next),
          });
          if (next.do === 'throw') await expect(write).rejects.toThrow('apply failed');
          else {
            perform(plain.users, next);
            writes.push(write);
          }
        }
      }
      await store.close();
    }),
    { numRuns: 20 },
  );
}, 120_000);

test('rows follow when requests rest, and the journal is empty then', async () => {
  const file = join(folder, 'rest.db');
  // The rest begins when the test says so, however slow the disk is.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const store = await openStore(file);
  const write = (apply: (users: UserSet) => void) =>
    store.writeUsers({ workspaceId: 'demo', lookups: [], nowMs: NOW, apply });
  await write((users) => {
    users.create({ externalId: 'u-1' }, NOW);
  });
  await write((users) => perform(users, { do: 'both', user: 1, value: 7 }));
  const database = new DatabaseSync(file, { readOnly: true });
  const row = () => database.prepare('SELECT profile FROM users').get()?.['profile'] as string;
  expect(row()).not.toContain('"n":7');
  vi.runAllTimers();
  vi.useRealTimers();
  await expect.poll(row, { timeout: 10_000 }).toContain('"n":7');
  await expect.poll(() => database.prepare('SELECT * FROM journal').all()).toEqual([]);
  database.close();
  await store.close();
});

test('users who come again and again are written once in a while, and nothing of them is lost', async () => {
  const file = join(folder, 'busy.db');
  let store = await openStore(file);
  const count = 5_000;
  await Promise.all(
    Array.from({ length: count }, (_, i) =>
      store.writeUsers({
        workspaceId: 'demo',
        lookups: [],
        nowMs: NOW + i,
        apply: (users) => perform(users, { do: 'both', user: i % 50, value: i }),
      }),
    ),
  );
  const total = async () => {
    const users = await collect(store.exportUsers('demo'));
    return users.flatMap(({ events }) => Object.values(events)).reduce((sum, tally) => sum + tally.count, 0);
  };
  expect(await total()).toBe(count);
  await store.close();
  store = await openStore(file);
  expect(await total()).toBe(count);
  const [last] = await store.readUsers('demo', [byExternalId(`u-${(count - 1) % 50}`)]);
  expect(last?.custom['n']).toBe(count - 1);
  await store.close();
});

/** On a disk that refuses a commit when told so, as a full one does. */
const onFailingDisk = () => {
  let isFull = false;
  const { users } = openKept({
    wrapCommitter: (committer) => ({
      ...committer,
      commit: async (group) => {
        if (isFull) throw new Error('disk full');
        await committer.commit(group);
      },
    }),
  });
  return {
    users,
    fill(full: boolean) {
      isFull = full;
    },
  };
};

test('a commit that failed takes nothing with it of what was stored before, whatever is stored next', async () => {
  const stepOrCommit = fc.record({ step, isFull: fc.boolean(), isFollowed: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(stepOrCommit, { minLength: 5, maxLength: 60 }), async (steps) => {
      const { users, fill } = onFailingDisk();
      const plain = plainUsers();
      for (const [index, { step: next, isFull, isFollowed }] of steps.entries()) {
        if (!('value' in next)) continue;
        fill(isFull);
        const nowMs = NOW + index;
        const write = users.write({
          workspaceId: 'demo',
          lookups: [],
          nowMs,
          apply: (set) => perform(set, next),
        });
        if (next.do === 'throw') await expect(write).rejects.toThrow('apply failed');
        else if (isFull) await expect(write).rejects.toThrow('disk full');
        else {
          await write;
          perform(plain.users, next);
        }
        fill(false);
        // As banner events and the health check do: they ask for a commit, and for no user.
        if (isFollowed) await users.queue.durable();
      }
      const lookups = plain.all().map(({ externalId }) => byExternalId(externalId!));
      expect(seen(await users.read('demo', lookups))).toEqual(seen(plain.all()));
      await users.close();
    }),
    { numRuns: 100 },
  );
}, 60_000);
