// A group is prepared and sent during the write of the previous one, with the users that it leaves in memory. If part of the
// previous group is rejected, mutations prepared with it must not keep rolled-back changes.
import { setImmediate as nextTick } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import fc from '../../helpers/property.ts';
import { anSqliteQueue } from './an-sqlite-queue.ts';
import { anEvent, byExternalId, NOW } from './examples.ts';

const USERS = 4;

const aQueue = () => {
  const { database, disk, queue } = anSqliteQueue();
  // As the database rejects a value that a column does not accept.
  database.exec(`CREATE TRIGGER refuse BEFORE INSERT ON events WHEN new.name = 'refused'
    BEGIN SELECT raise(ABORT, 'refused'); END`);
  const applied = { count: 0 };
  return {
    applied,
    disk,
    queue,
    record: (externalId: string, name: string) =>
      queue.write({
        workspaceId: 'demo',
        lookups: [byExternalId(externalId)],
        nowMs: NOW,
        apply(users) {
          applied.count += 1;
          const found = users.find(byExternalId(externalId))[0];
          const profile = found ?? users.create({ externalId }, NOW);
          users.record(profile, anEvent(profile, name));
        },
      }),
    /** Per user: the events counted in the profile, and the stored rows. */
    counts: () =>
      database
        .prepare(
          `SELECT external_id AS user, coalesce(profile ->> '$.custom_events.e.count', 0) AS counted,
             (SELECT count(*) FROM events WHERE events.user_id = users.user_id) AS stored,
             profile ->> '$.custom_events.refused' AS refused
           FROM users ORDER BY external_id`,
        )
        .all()
        .map((row) => ({ ...row })),
  };
};

test('prepares and sends the next group while another is being written', async () => {
  const { queue, disk, applied, record, counts } = aQueue();
  const groups: number[] = [];
  queue.onCommit(({ mutations }) => groups.push(mutations));
  const written = Promise.withResolvers<void>();
  disk.isReady = written.promise;
  const first = [record('u-1', 'e'), record('u-2', 'e')];
  await vi.waitUntil(() => disk.commits === 1);
  const second = [record('u-1', 'e'), record('u-3', 'e')];
  await vi.waitUntil(() => applied.count === 4);
  const third = [record('u-3', 'e')];
  await vi.waitUntil(() => disk.commits === 2);
  written.resolve();
  await Promise.all([...first, ...second, ...third]);
  expect(groups).toEqual([2, 2, 1]);
  expect(counts().map(({ counted, stored }) => [counted, stored])).toEqual([
    [2, 2],
    [1, 1],
    [2, 2],
  ]);
  await queue.close();
});

test('starts a second group only once it is as large as the first', async () => {
  const { queue, disk, record } = aQueue();
  const groups: number[] = [];
  queue.onCommit(({ mutations }) => groups.push(mutations));
  const written = Promise.withResolvers<void>();
  disk.isReady = written.promise;
  const writes = [record('u-1', 'e'), record('u-2', 'e')];
  await vi.waitUntil(() => disk.commits === 1);
  writes.push(record('u-3', 'e'));
  await nextTick();
  await nextTick();
  writes.push(record('u-4', 'e'));
  await vi.waitUntil(() => disk.commits === 2);
  written.resolve();
  await Promise.all(writes);
  expect(groups).toEqual([2, 2]);
});

test('counts exactly the acknowledged events in profiles, even if the database rejects others', async () => {
  const work = fc.record({
    user: fc.nat({ max: USERS - 1 }),
    isRefused: fc.boolean(),
    /** Event-loop turns until the next one arrives. */
    turns: fc.nat({ max: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(work, { minLength: 4, maxLength: 60 }), async (works) => {
      const { queue, record, counts } = aQueue();
      const acknowledged = new Map<string, number>();
      const fates: Promise<void>[] = [];
      for (const { user, isRefused, turns } of works) {
        const externalId = `u-${user}`;
        fates.push(
          record(externalId, isRefused ? 'refused' : 'e').then(
            () => void acknowledged.set(externalId, (acknowledged.get(externalId) ?? 0) + 1),
            (error: Error) => {
              expect(isRefused, error.message).toBe(true);
            },
          ),
        );
        for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
      }
      await Promise.all(fates);
      const expected = [...acknowledged].sort().map(([user, count]) => ({
        user,
        counted: count,
        stored: count,
        refused: null,
      }));
      expect(counts()).toEqual(expected);
      await queue.close();
    }),
    { numRuns: 200 },
  );
});
