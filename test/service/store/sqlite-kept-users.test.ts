import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Profile } from '../../../src/service/profiles/profile.ts';
import type { UserSet } from '../../../src/service/profiles/user-set.ts';
import { createBehind } from '../../../src/service/store/sqlite/behind.ts';
import { anEvent, byExternalId } from './contract.ts';
import { type KeptOptions, openKept } from './kept.ts';

const folder = mkdtempSync(join(tmpdir(), 'placard-kept-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('reads let go of what reads before them have brought into memory', async () => {
  const file = join(folder, 'reads.db');
  const names = ['a', 'b', 'c', 'd'];
  const { users: before } = openKept({ file });
  await before.write({
    workspaceId: 'w',
    lookups: [],
    nowMs: 1,
    apply: (set) => names.map((externalId) => set.create({ externalId }, 1)),
  });
  await before.close();

  const loaded: unknown[] = [];
  const { users } = openKept({
    file,
    wrapReader: (reader) => ({
      ...reader,
      load(workspaceId, lookup, weigh) {
        loaded.push(lookup.value);
        // Each as heavy as all that memory may keep.
        weigh?.(4_096 * 50_001);
        return reader.load(workspaceId, lookup, weigh);
      },
    }),
  });
  for (const name of [...names, 'a']) {
    expect(await users.read('w', [byExternalId(name)])).toMatchObject([{ externalId: name }]);
  }
  expect(loaded).toEqual([...names, 'a']);
  await users.close();
});

test('after a work that failed, memory is made anew once, and not with every question of a page', async () => {
  let readings = 0;
  const { users } = openKept({
    wrapReader: (reader) => ({
      ...reader,
      settled(...options) {
        readings += 1;
        return reader.settled(...options);
      },
      profiles(...options) {
        readings += 1;
        return reader.profiles(...options);
      },
    }),
  });
  const write = (apply: (set: UserSet) => void) =>
    users.write({ workspaceId: 'w', lookups: [], nowMs: 1, apply });
  await write((set) => set.create({ externalId: 'a' }, 1));
  await write((set) => {
    const [profile] = set.find(byExternalId('a'));
    profile!.custom['n'] = 1;
    set.changed(profile!);
  });
  readings = 0;
  const failing = write((set) => {
    set.find(byExternalId('a'))[0]!.custom['n'] = 2;
    throw new Error('apply failed');
  });
  await expect(failing).rejects.toThrow('apply failed');
  for (let question = 0; question < 3; question += 1) {
    expect((await users.recall('w', 'a'))?.custom).toEqual({ n: 1 });
  }
  expect(readings).toBe(1);
  await users.close();
});

/** Characters of journal and events that whoever starts from the file has to read. */
const unsettledIn = (database: DatabaseSync): number =>
  Number(
    database
      .prepare(
        `SELECT ifnull(sum(length(text)), 0) AS characters FROM (
           SELECT request, attributes AS text FROM journal UNION ALL SELECT request, events FROM events
         ) WHERE request > (SELECT settled_request FROM progress)`,
      )
      .get()?.['characters'],
  );

/** One work that changes the users of these names, who are made where they are not there. */
const changeAll = (
  users: ReturnType<typeof openKept>['users'],
  names: string[],
  change: (profile: Profile, set: UserSet) => void,
) =>
  users.write({
    workspaceId: 'w',
    lookups: [],
    nowMs: 1,
    apply(set) {
      for (const name of names) {
        const profile = set.find(byExternalId(name))[0] ?? set.create({ externalId: name }, 1);
        change(profile, set);
        set.changed(profile);
      }
    },
  });

describe('under a load that never rests', () => {
  const BOUND = 300_000;
  const ROUNDS = 40;
  const AT_ONCE = 16;

  test.each([
    { load: 'one user whose attributes are large', users: 1, noteLength: 3_000 },
    { load: 'more users than a group brings up to date', users: 3_000, noteLength: 60 },
  ])('what a start has to read stays bounded: $load', async ({ users: count, noteLength }) => {
    let longest = 0;
    const { database, users } = openKept({
      behind: createBehind({ unsettled: BOUND }),
      wrapCommitter: (committer) => ({
        ...committer,
        commit(group) {
          longest = Math.max(longest, group.updates.length / 3);
          return committer.commit(group);
        },
      }),
    });
    onTestFinished(() => users.close());
    let next = 0;
    const write = (most: number) => {
      const names = Array.from({ length: Math.min(count, most) }, () => `u-${next++ % count}`);
      return changeAll(users, names, (profile, set) => {
        profile.custom['note'] = 'x'.repeat(noteLength);
        set.record(profile, anEvent(profile, 'e', 1));
      });
    };
    await write(count);
    const unsettled: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await Promise.all(Array.from({ length: AT_ONCE }, () => write(75)));
      unsettled.push(unsettledIn(database));
    }
    const brought = unsettled[0]!;
    expect(brought * ROUNDS).toBeGreaterThan(5 * BOUND);
    expect(Math.max(...unsettled)).toBeLessThanOrEqual(2 * BOUND + brought);
    // Every group has its share: none is left with all of them.
    expect(longest).toBeLessThan(count === 1 ? 2 : 2 * 75 * AT_ONCE);
  });
});

describe('a service that ends', () => {
  /** Leaves more behind than one group brings up to date, closes, and says what a start finds then. */
  const close = async (name: string, options: KeptOptions) => {
    const file = join(folder, name);
    const { users } = openKept({ file, ...options });
    const names = Array.from({ length: 1_000 }, (_, i) => `u-${i}`);
    for (const value of [1, 2]) {
      await changeAll(users, names, (profile) => {
        profile.custom['n'] = value;
      });
    }
    await users.close();
    const next = openKept({ file });
    const unsettled = unsettledIn(next.database);
    const profiles = await next.users.read('w', names.map(byExternalId));
    await next.users.close();
    return { unsettled, values: new Set(profiles.map(({ custom }) => custom['n'])) };
  };

  test('leaves no row behind', async () => {
    expect(await close('ends.db', {})).toEqual({ unsettled: 0, values: new Set([2]) });
  });

  test('takes no longer for it than it may', async () => {
    const { unsettled, values } = await close('late.db', { closeMs: 0 });
    expect(unsettled).toBeGreaterThan(0);
    expect(values).toEqual(new Set([2]));
  });

  test('leaves what cannot be written to the next start', async () => {
    let commits = 0;
    const { unsettled, values } = await close('full.db', {
      wrapCommitter: (committer) => ({
        ...committer,
        async commit(group) {
          commits += 1;
          if (commits > 3) throw new Error('disk full');
          await committer.commit(group);
        },
      }),
    });
    expect(commits).toBe(4);
    expect(unsettled).toBeGreaterThan(0);
    expect(values).toEqual(new Set([2]));
  });
});
