// A disk that takes some commits and refuses others: what was refused leaves no trace, and nobody reads much because of it.
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type BehindBounds, createBehind } from '../../../src/service/store/sqlite/behind.ts';
import { createReader } from '../../../src/service/store/sqlite/reader.ts';
import fc from '../../helpers/property.ts';
import { byExternalId } from './examples.ts';
import { type KeptOptions, openKept } from './kept.ts';
import { NOW, perform, plainUsers, type Step, seen, step, USERS } from './steps.ts';

afterEach(() => void vi.useRealTimers());

/** Users on a disk that refuses commits while it is full, and what was done to them in the order of its doing. */
const onDisk = (options: KeptOptions = {}) => {
  const disk = { isFull: false };
  const reads = { rows: 0, settled: 0 };
  const { database, users } = openKept({
    wrapReader: (reader) => ({
      ...reader,
      settled(workspaceId, onRow) {
        reads.settled += 1;
        return reader.settled(workspaceId, (row) => {
          reads.rows += 1;
          onRow?.(row);
        });
      },
      profiles(...question) {
        reads.settled += 1;
        return reader.profiles(...question);
      },
    }),
    wrapCommitter: (committer) => ({
      ...committer,
      async commit(group) {
        const { isFull } = disk;
        // The writing takes a while: others come meanwhile.
        await new Promise(setImmediate);
        if (isFull) throw new Error('disk full');
        await committer.commit(group);
      },
    }),
    ...options,
  });
  const done: { step: Extract<Step, { value: number }>; isStored: boolean }[] = [];
  const write = async (next: Extract<Step, { value: number }>, nowMs = NOW): Promise<boolean> => {
    const note = { step: next, isStored: false };
    try {
      await users.write({
        workspaceId: 'demo',
        lookups: [],
        nowMs,
        apply(set) {
          done.push(note);
          perform(set, next);
        },
      });
      note.isStored = true;
    } catch (error) {
      expect((error as Error).message).toMatch(/^(disk full|apply failed)$/);
    }
    return note.isStored;
  };
  const expected = () => {
    const plain = plainUsers();
    for (const { step: next, isStored } of done) if (isStored) perform(plain.users, next);
    return plain.all();
  };
  return { database, users, disk, reads, write, expected };
};

const attribute = (user: number, value: number) => ({ do: 'attribute', user, value }) as const;

describe('while a disk is full', () => {
  /** Two users whose rows are behind. */
  const twoBehind = async (options?: KeptOptions) => {
    const stage = onDisk(options);
    onTestFinished(() => stage.users.close());
    for (const value of [1, 2]) for (const user of [0, 1]) await stage.write(attribute(user, value));
    stage.reads.settled = 0;
    stage.reads.rows = 0;
    stage.disk.isFull = true;
    return stage;
  };

  test('what rows are behind of is read once, however many requests fail, and no more once it takes them again', async () => {
    const { users, disk, reads, write, expected } = await twoBehind();
    for (let value = 3; value < 10; value += 1) {
      const failing = [
        write(attribute(0, value)),
        write(attribute(value % USERS, value)),
        users.queue.durable(),
      ];
      // Browsers ask meanwhile.
      for (const user of [0, 1]) expect((await users.recall('demo', `u-${user}`))?.custom).toBeDefined();
      await Promise.allSettled(failing);
      expect((await users.recall('demo', 'u-0'))?.custom).toEqual({ n: 2 });
    }
    expect(reads).toEqual({ settled: 1, rows: 2 });
    disk.isFull = false;
    expect(await write(attribute(1, 10))).toBe(true);
    expect(
      seen(
        await users.read(
          'demo',
          [0, 1].map((user) => byExternalId(`u-${user}`)),
        ),
      ),
    ).toEqual(seen(expected()));
    expect(reads).toEqual({ settled: 1, rows: 2 });
  });

  test('who waits for a commit that fails fails with it, and waits for no other', async () => {
    const { users, write } = await twoBehind();
    let commits = 0;
    users.queue.onCommit(() => {
      commits += 1;
    });
    await write(attribute(0, 3));
    expect(await Promise.all([4, 5, 6, 7, 8].map((value) => write(attribute(0, value))))).not.toContain(true);
    expect(commits).toBe(2);
  });

  test('nothing is read again where only banner events and questions came', async () => {
    const { users, reads } = await twoBehind();
    for (let time = 0; time < 3; time += 1) {
      await expect(users.queue.durable()).rejects.toThrow('disk full');
      expect((await users.recall('demo', 'u-1'))?.custom).toEqual({ n: 2 });
    }
    expect(reads.settled).toBe(0);
  });

  test('rows that could not be brought up to date stay behind, and follow once it takes them', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { database, users, disk, reads } = await twoBehind();
    const settled = () => createReader(database).progress().settledRequest;
    const before = settled();
    // Requests rest, so that rows follow.
    vi.runOnlyPendingTimers();
    await expect(users.queue.durable()).rejects.toThrow('disk full');
    expect(settled()).toBe(before);
    disk.isFull = false;
    vi.runOnlyPendingTimers();
    await users.queue.durable();
    expect(settled()).toBeGreaterThan(before);
    expect(reads.settled).toBe(0);
    expect(seen(createReader(database).profiles('demo', [byExternalId('u-1')]))).toMatchObject([
      { custom: { n: 2 } },
    ]);
  });
});

const bounds: fc.Arbitrary<Partial<BehindBounds>> = fc.oneof(
  fc.constant({}),
  fc.record({
    requests: fc.integer({ min: 1, max: 20 }),
    users: fc.integer({ min: 1, max: 8 }),
    characters: fc.integer({ min: 1, max: 2_000 }),
    unsettled: fc.integer({ min: 1, max: 4_000 }),
  }),
);
const moment = fc.record({
  step,
  isFull: fc.boolean(),
  /** Whether others come before this one is stored. */
  isAwaited: fc.boolean(),
  /** Banner events and health checks ask for a commit, and for no user. */
  isFollowed: fc.boolean(),
});

test('whatever fails, amid whatever else, memory and file say what was acknowledged and nothing more', async () => {
  await fc.assert(
    fc.asyncProperty(
      bounds,
      fc.integer({ min: 0, max: 6 }),
      fc.array(moment, { minLength: 5, maxLength: 60 }),
      async (tiny, carefulWorks, moments) => {
        const { database, users, disk, write, expected } = onDisk({
          behind: createBehind(tiny),
          carefulWorks,
        });
        let under: Promise<unknown>[] = [];
        const all = Array.from({ length: USERS }, (_, user) => byExternalId(`u-${user}`));
        const compare = async () => {
          await Promise.all(under);
          under = [];
          const profiles = seen(expected());
          expect(seen(await users.read('demo', all))).toEqual(profiles);
          expect(seen(createReader(database).profiles('demo', all))).toEqual(profiles);
        };
        for (const [index, { step: next, isFull, isAwaited, isFollowed }] of moments.entries()) {
          disk.isFull = isFull;
          if (next.do === 'ask') under.push(users.recall('demo', `u-${next.user}`));
          else if (next.do === 'compare' || next.do === 'reopen') await compare();
          else under.push(write(next, NOW + index));
          if (isFollowed) under.push(users.queue.durable().catch(() => undefined));
          if (isAwaited) await Promise.all(under);
          else if (index % 3 === 0) await new Promise(setImmediate);
        }
        await compare();
        disk.isFull = false;
        await users.queue.durable();
        await compare();
        await users.close();
      },
    ),
    { numRuns: Number(process.env['PLACARD_CRASH_ROUNDS'] ?? 300) },
  );
}, 120_000);
