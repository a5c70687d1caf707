import { describe, expect, onTestFinished, test } from 'vitest';
import type { Entry } from '../../../src/service/store/entry.ts';
import { type Behind, createBehind } from '../../../src/service/store/sqlite/behind.ts';
import { byExternalId } from './contract.ts';
import { openKept } from './kept.ts';

const MEGABYTE = 1024 * 1024;

const anEntry = (): Entry => ({ behindSince: 0, removed: false }) as Entry;

/** Those whose rows are late, in their order. */
const takeAll = (behind: Behind, lastRequest: number): Entry[] => {
  const taken: Entry[] = [];
  for (let next = behind.take(lastRequest, false); next; next = behind.take(lastRequest, false))
    taken.push(next);
  return taken;
};

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
    expect(takeAll(behind, 40)).toEqual(entries.slice(0, 8));
    expect(behind.settledRequest(40)).toBe(8);
  });

  test('weigh once in memory, however often they change, and nothing once they are written or gone', () => {
    const behind = createBehind();
    const [often, written, removed] = [anEntry(), anEntry(), anEntry()];
    for (let request = 1; request <= 100; request += 1) behind.add(often, request, MEGABYTE);
    expect(takeAll(behind, 100)).toEqual([]);
    behind.add(written, 101, 20 * MEGABYTE);
    behind.add(removed, 102, 20 * MEGABYTE);
    written.behindSince = 0;
    removed.removed = true;
    expect(takeAll(behind, 102)).toEqual([often]);
    expect(behind.isEmpty()).toBe(true);
  });

  test('are due where a start would have to read too much, of which every request counts', () => {
    const behind = createBehind({ unsettled: 1_000 });
    const [often, later] = [anEntry(), anEntry()];
    const change = (entry: Entry, request: number) => {
      behind.add(entry, request, 0);
      behind.stored(100);
    };
    for (let request = 1; request <= 10; request += 1) change(often, request);
    expect(takeAll(behind, 10)).toEqual([]);
    change(later, 11);
    expect(takeAll(behind, 11)).toEqual([often]);
    expect(behind.settledRequest(11)).toBe(10);
    change(often, 12);
    for (let request = 13; request <= 21; request += 1) change(later, request);
    expect(takeAll(behind, 21)).toEqual([later]);
    expect(behind.settledRequest(21)).toBe(11);
  });

  test('are the more for one group the further a bound is passed, and any number at twice of it', () => {
    const behind = createBehind({ unsettled: 1_000 });
    expect(behind.shares(0)).toBe(1);
    behind.add(anEntry(), 1, 0);
    const sharesAfter = (weight: number) => {
      behind.stored(weight);
      return behind.shares(1);
    };
    expect([
      sharesAfter(1_000),
      sharesAfter(500),
      sharesAfter(250),
      sharesAfter(250),
      sharesAfter(500),
    ]).toEqual([1, 2, 4, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]);
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
