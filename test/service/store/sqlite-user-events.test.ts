import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore, type Store } from '../../../src/service/store/index.ts';
import { anEvent, byExternalId, collect, NOW } from './examples.ts';

/** More events than the largest batch that is added to `user_events`. */
const MANY = 33_000;

describe('user_events of SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'placard-user-events-'));
  const file = join(folder, 'placard.db');
  let store: Store;
  beforeAll(async () => {
    store = await openStore(file);
  });
  afterAll(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  const record = (externalId: string, times: number, workspaceId = 'demo', receivedAtMs = NOW) =>
    store.write({
      workspaceId,
      lookups: [byExternalId(externalId)],
      nowMs: NOW,
      apply(users) {
        const profile = users.find(byExternalId(externalId))[0] ?? users.create({ externalId }, NOW);
        for (let i = 0; i < times; i += 1)
          users.record(profile, { ...anEvent(profile, `e-${i}`, receivedAtMs), receivedAtMs });
      },
    });
  const getEvents = async (externalId: string) =>
    (await collect(store.exportEvents('demo'))).filter((event) => event.externalId === externalId).length;

  /** The cursor, and rows that differ from the events up to it. */
  const inspect = () => {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      const { events } = database
        .prepare("SELECT events FROM feed_cursors WHERE consumer = 'user_events'")
        .get() as { events: number };
      const [expected, actual] = [
        `SELECT user_id, event_id FROM events WHERE event_id <= ${events}`,
        'SELECT user_id, event_id FROM user_events',
      ];
      const different = database
        .prepare(
          `SELECT * FROM (${expected} EXCEPT ${actual}) UNION ALL SELECT * FROM (${actual} EXCEPT ${expected})`,
        )
        .all();
      return { cursor: events, different };
    } finally {
      database.close();
    }
  };

  test('contain no rows for few events, and all rows for many', async () => {
    await record('few', 10);
    expect(inspect()).toEqual({ cursor: 0, different: [] });
    await record('many', MANY);
    await record('many', 1);
    expect(inspect()).toEqual({ cursor: MANY + 10, different: [] });
  });

  test('move with a merge of users who have events before and after the last batch', async () => {
    await record('few', 5);
    await record('kept', 3);
    await Promise.all([
      record('few', 2),
      store.write({
        workspaceId: 'demo',
        lookups: [byExternalId('few'), byExternalId('kept')],
        nowMs: NOW,
        apply: (users) =>
          users.merge(users.find(byExternalId('kept'))[0]!, users.find(byExternalId('few'))[0]!, NOW),
      }),
    ]);
    expect(await getEvents('kept')).toBe(20);
    expect(await getEvents('few')).toBe(0);
    expect(inspect().different).toEqual([]);
  });

  test('are deleted with a user, and with the events that retention deletes', async () => {
    await record('kept', 7);
    await store.write({
      workspaceId: 'demo',
      lookups: [byExternalId('kept')],
      nowMs: NOW,
      apply: (users) => users.eraseByExternalId('kept'),
    });
    expect(await getEvents('kept')).toBe(0);
    expect(inspect().different).toEqual([]);
    for (let hasMore = true; hasMore; )
      ({ hasMore } = await store.prune('demo', { events: NOW + 1, bannerEvents: null }));
    expect(await collect(store.exportEvents('demo'))).toEqual([]);
    expect(inspect().different).toEqual([]);
  });

  test('skip the events of other workspaces in steps when retention deletes', async () => {
    await record('theirs', 25_000, 'other', NOW - 10);
    await record('mine', 3, 'demo', NOW - 5);
    await record('mine', 1);
    const before = { events: NOW, bannerEvents: null };
    expect(await store.prune('demo', before)).toMatchObject({ events: 0, hasMore: true });
    let deleted = 0;
    for (let hasMore = true; hasMore; ) {
      const step = await store.prune('demo', before);
      deleted += step.events;
      ({ hasMore } = step);
    }
    expect(deleted).toBe(3);
    expect(await getEvents('mine')).toBe(1);
  });
});
