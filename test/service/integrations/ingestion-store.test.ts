import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openStore, type Store } from '../../../src/service/index.ts';
import type { BatchRecord, IngestionRun } from '../../../src/service/integrations/ingestion-records.ts';
import { batchStatements } from '../../../src/service/integrations/ingestion-store.ts';
import { aDatabase } from '../../helpers/postgres.ts';

const W = 'shop';
const ID = 'orders';
const LEASE_MS = 1_000;

const aFile = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'placard-ingestion-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'placard.db');
};

const acquireAt = async (store: Store, nowMs: number): Promise<IngestionRun | null> => {
  const state = (await store.ingestion.states(W)).find(({ integrationId }) => integrationId === ID) ?? null;
  const lease = await store.ingestion.acquireLease({
    workspaceId: W,
    integrationId: ID,
    state,
    trigger: 'schedule',
    nowMs,
    leaseMs: LEASE_MS,
  });
  return lease?.run ?? null;
};

const aRecord = (run: IngestionRun, more: Partial<BatchRecord> = {}): BatchRecord => ({
  run,
  watermark: { timeUs: 5, sortKey: 'b' },
  dedupeSinceUs: null,
  storedRows: [],
  rejects: [],
  closedRejectIds: [],
  nowMs: 10,
  ...more,
});

/** Creates a user together with the batch record. */
const writeBatch = (store: Store, record: BatchRecord, externalId: string) =>
  store.write({
    workspaceId: W,
    lookups: [{ by: 'external_id', value: externalId }],
    nowMs: 10,
    apply: (users) => void users.create({ externalId }, 10),
    extraStatements: batchStatements(record),
  });

const getUsers = async (store: Store) =>
  (
    await store.readUsers(
      W,
      ['kim', 'lee', 'ann'].map((value) => ({ by: 'external_id', value }) as const),
    )
  )
    .map(({ externalId }) => externalId)
    .sort();

describe.each([
  ['a SQLite file', aFile],
  ['PostgreSQL', aDatabase],
])('integration runs on %s', (_, address) => {
  const aStore = async () => {
    const store = await openStore(await address());
    onTestFinished(() => store.close());
    return store;
  };

  test('grant the lease to one of many concurrent processes, and again only after it ends', async () => {
    const store = await aStore();
    const runs = await Promise.all(Array.from({ length: 6 }, () => acquireAt(store, 1_000)));
    expect(runs.filter(Boolean)).toHaveLength(1);
    expect(await acquireAt(store, 1_500)).toBeNull();
    const next = await acquireAt(store, 2_001);
    expect(next).not.toBeNull();
    const [newest, dead] = await store.ingestion.runs(W, ID, { limit: 9 });
    expect(newest).toEqual(next);
    expect(dead).toMatchObject({ status: 'error', finishedAtMs: 2_001 });
  });

  test('release a lease that a fast clock has extended by years', async () => {
    const store = await aStore();
    await acquireAt(store, 9_000_000_000);
    expect(await acquireAt(store, 1_000)).not.toBeNull();
  });

  test('are leased once by two replicas that read the same state, even if the run is short', async () => {
    const store = await aStore();
    const lease = { workspaceId: W, integrationId: ID, state: null, trigger: 'schedule' as const };
    const first = await store.ingestion.acquireLease({ ...lease, nowMs: 1_000, leaseMs: LEASE_MS });
    await store.ingestion.finish({ ...first!.run, status: 'success', finishedAtMs: 1_001 });
    expect(await store.ingestion.acquireLease({ ...lease, nowMs: 1_002, leaseMs: LEASE_MS })).toBeNull();
  });

  test('continue after the rows that the previous run stored between poll and lease', async () => {
    const store = await aStore();
    const paused = (await acquireAt(store, 1_000))!;
    const [state] = await store.ingestion.states(W);
    const watermark = { timeUs: 7, sortKey: 'x' };
    await writeBatch(store, aRecord(paused, { watermark, dedupeSinceUs: 3 }), 'kim');
    const lease = { workspaceId: W, integrationId: ID, trigger: 'schedule' as const };
    const next = await store.ingestion.acquireLease({
      ...lease,
      state: state!,
      nowMs: 3_000,
      leaseMs: LEASE_MS,
    });
    expect(next).toMatchObject({ run: { watermarkUs: 7 }, state: { watermark, dedupeSinceUs: 3 } });
    await expect(writeBatch(store, aRecord(paused), 'lee')).rejects.toThrow();
    expect(await getUsers(store)).toEqual(['kim']);
  });

  test('store rows, watermark, counts and rejects together', async () => {
    const store = await aStore();
    const run = (await acquireAt(store, 1_000))!;
    const reject = {
      rejectId: 'key:ann',
      kind: 'invalid' as const,
      key: 'ann',
      userIdentifier: 'external_id:ann',
      updatedAtUs: 4,
      reason: 'no name',
      payload: '{"a":1}',
      storedRows: ['hash'],
    };
    const done = { ...run, rowsSynced: 1, rowsFailed: 1, watermarkUs: 5 };
    await writeBatch(
      store,
      aRecord(done, { rejects: [reject], dedupeSinceUs: 0, storedRows: [[5, 'b']] }),
      'kim',
    );
    expect(await getUsers(store)).toEqual(['kim']);
    expect(await store.ingestion.states(W)).toMatchObject([
      { watermark: { timeUs: 5, sortKey: 'b' }, dedupeSinceUs: 0 },
    ]);
    expect(await store.ingestion.runs(W, ID, { limit: 9 })).toEqual([done]);
    expect(await store.ingestion.lastRuns(W)).toEqual([done]);
    expect(await store.ingestion.rejects(W, ID, { limit: 9 })).toEqual([
      { ...reject, runId: run.runId, rejectedAtMs: 10 },
    ]);
    expect(await store.ingestion.storedRows(W, ID, 4)).toEqual([[5, 'b']]);
    await writeBatch(store, aRecord(run, { closedRejectIds: ['key:ann'], dedupeSinceUs: 5 }), 'lee');
    expect(await store.ingestion.rejects(W, ID, { limit: 9 })).toEqual([]);
    expect(await store.ingestion.storedRows(W, ID, 0)).toEqual([]);
  });

  test('reject a write without the lease, and store concurrent writes', async () => {
    const store = await aStore();
    const late = (await acquireAt(store, 1_000))!;
    const next = (await acquireAt(store, 3_000))!;
    const [first, second, third] = await Promise.allSettled([
      writeBatch(store, aRecord(next, { watermark: { timeUs: 7, sortKey: 'x' } }), 'kim'),
      writeBatch(store, aRecord(late), 'lee'),
      store.write({
        workspaceId: W,
        lookups: [{ by: 'external_id', value: 'ann' }],
        nowMs: 10,
        apply: (users) => void users.create({ externalId: 'ann' }, 10),
      }),
    ]);
    expect([first.status, second.status, third.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await getUsers(store)).toEqual(['ann', 'kim']);
    expect(await store.ingestion.states(W)).toMatchObject([{ watermark: { timeUs: 7, sortKey: 'x' } }]);
    expect(await store.ingestion.renew(late, 9_000)).toBe(false);
    expect(await store.ingestion.renew(next, 9_000)).toBe(true);
  });

  test('accept one request for a run at a time, and not while one is running', async () => {
    const store = await aStore();
    const asked = await Promise.all([1, 2, 3].map((ms) => store.ingestion.request(W, ID, 100 + ms)));
    expect(asked.filter(Boolean)).toHaveLength(1);
    const run = (await acquireAt(store, 1_000))!;
    expect(await store.ingestion.request(W, ID, 1_001)).toBe(false);
    await store.ingestion.finish({ ...run, status: 'success', finishedAtMs: 1_002 });
    expect(await store.ingestion.request(W, ID, 1_003)).toBe(true);
  });

  test('delete old rejects and those of an erased user', async () => {
    const store = await aStore();
    const run = (await acquireAt(store, 1_000))!;
    const reject = (key: string) => ({
      rejectId: `key:${key}`,
      kind: 'invalid' as const,
      key,
      userIdentifier: `external_id:${key}`,
      updatedAtUs: 4,
      reason: 'no name',
      payload: '{}',
      storedRows: [],
    });
    await writeBatch(store, aRecord(run, { rejects: [reject('kim'), reject('lee')] }), 'kim');
    await store.write({
      workspaceId: W,
      lookups: [{ by: 'external_id', value: 'kim' }],
      nowMs: 10,
      apply: (users) => void users.eraseByExternalId('kim'),
    });
    expect((await store.ingestion.rejects(W, ID, { limit: 9 })).map(({ key }) => key)).toEqual(['lee']);
    await store.ingestion.prune(11, 0);
    expect(await store.ingestion.rejects(W, ID, { limit: 9 })).toEqual([]);
  });
});
