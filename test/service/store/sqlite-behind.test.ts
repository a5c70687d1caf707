import { describe, expect, onTestFinished, test } from 'vitest';
import type { Entry } from '../../../src/service/store/entry.ts';
import { createBehind } from '../../../src/service/store/sqlite/behind.ts';
import { byExternalId } from './contract.ts';
import { openKept } from './kept.ts';

const MEGABYTE = 1024 * 1024;

const anEntry = (): Entry => ({ behindSince: 0, removed: false }) as Entry;

describe('rows that are behind', () => {
  test('may wait while they are few and small', () => {
    const behind = createBehind();
    const entry = anEntry();
    behind.add(entry, 1, 1_000);
    expect(behind.take(10_000, false)).toBeUndefined();
    expect(behind.settledRequest(10_000)).toBe(0);
    expect(behind.take(10_001, false)).toBe(entry);
    expect(behind.settledRequest(10_001)).toBe(10_001);
    expect(behind.isEmpty()).toBe(true);
  });

  test('are due at once, the oldest first, where too much waits in memory', () => {
    const behind = createBehind();
    const entries = Array.from({ length: 40 }, anEntry);
    for (const [i, entry] of entries.entries()) behind.add(entry, i + 1, MEGABYTE);
    expect(behind.isTooMuch()).toBe(true);
    const taken: (Entry | undefined)[] = [];
    for (let next = behind.take(40, false); next; next = behind.take(40, false)) taken.push(next);
    expect(taken).toEqual(entries.slice(0, 8));
    expect(behind.isTooMuch()).toBe(false);
    expect(behind.settledRequest(40)).toBe(8);
  });

  test('weigh once, however often they change, and nothing once they are written or gone', () => {
    const behind = createBehind();
    const [often, written, removed] = [anEntry(), anEntry(), anEntry()];
    for (let request = 1; request <= 100; request += 1) behind.add(often, request, MEGABYTE);
    behind.add(written, 101, 20 * MEGABYTE);
    behind.add(removed, 102, 20 * MEGABYTE);
    expect(behind.isTooMuch()).toBe(true);
    written.behindSince = 0;
    removed.removed = true;
    expect(behind.take(102, true)).toBe(often);
    expect(behind.take(102, true)).toBeUndefined();
    expect(behind.isTooMuch()).toBe(false);
  });
});

test('large profiles are brought up to date a few at a time, so that no commit is a long one', async () => {
  const updates: { rows: number; characters: number }[] = [];
  const { database, users } = openKept({
    wrapCommitter: (committer) => ({
      ...committer,
      commit(group) {
        const texts = group.updates.filter((value) => typeof value === 'string' && value.startsWith('{'));
        updates.push({ rows: texts.length, characters: texts.join('').length });
        return committer.commit(group);
      },
    }),
  });
  onTestFinished(() => users.close());

  const names = Array.from({ length: 40 }, (_, i) => `u-${i}`);
  const write = (value: string) =>
    users.write({
      workspaceId: 'w',
      lookups: names.map(byExternalId),
      nowMs: 1,
      apply(set) {
        for (const name of names) {
          const profile = set.find(byExternalId(name))[0] ?? set.create({ externalId: name }, 1);
          profile.custom['note'] = value;
          set.changed(profile);
        }
      },
    });
  await write('first');
  await write('x'.repeat(80_000));
  // Nothing else comes, so the rows follow by themselves.
  await expect.poll(() => updates.reduce((sum, { rows }) => sum + rows, 0), { timeout: 10_000 }).toBe(40);
  for (const { characters } of updates) expect(characters).toBeLessThan(512 * 1024 + 81_000);
  const stored = database.prepare('SELECT profile FROM users').all();
  expect(stored.map(({ profile }) => JSON.parse(String(profile)).custom.note.length)).toEqual(
    names.map(() => 80_000),
  );
  expect(database.prepare('SELECT * FROM journal').all()).toEqual([]);
});
