import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startIngestion } from '../../src/ingestion/index.ts';
import { nextRunMs, type Store, silentLog } from '../../src/service/index.ts';
import { scheduleProblem } from '../../src/service/integrations/schedule.ts';
import { patience } from '../helpers/patience.ts';
import { aFolder, aStore, ID, W, workspaceWith } from './ingest.ts';

const SOURCE = { kind: 'csv', files: 'crm.csv', rows: 'attributes', columns: { PLAN: 'plan' } };
const PATIENCE = { timeout: patience(20_000), interval: 10 };

const berlin = (expression: string) => ({ kind: 'cron' as const, expression, timeZone: 'Europe/Berlin' });
const runsAfter = (expression: string, from: string, count: number): string[] => {
  const runs: string[] = [];
  for (let ms = Date.parse(from); runs.length < count; ) {
    ms = nextRunMs(berlin(expression), ms)!;
    runs.push(new Date(ms).toISOString().slice(0, 16));
  }
  return runs;
};

test('starts a run once at its local time, even if a clock change skips or repeats that time', () => {
  expect(runsAfter('30 2 * * *', '2026-03-28T00:00:00Z', 3)).toEqual([
    '2026-03-28T01:30',
    // 02:30 does not exist on this day.
    '2026-03-29T01:30',
    '2026-03-30T00:30',
  ]);
  expect(runsAfter('30 2 * * *', '2026-10-24T12:00:00Z', 2)).toEqual([
    // 02:30 occurs twice on this day.
    '2026-10-25T00:30',
    '2026-10-26T01:30',
  ]);
  expect(runsAfter('0 4 1 * *', '2026-03-01T12:00:00Z', 2)).toEqual(['2026-04-01T02:00', '2026-05-01T02:00']);
});

test.each([
  ['*/15 * * * *', null],
  ['0 4 * * 1', null],
  ['0 0 1 * *', null],
  ['0 0 L * *', null],
  ['*/10 * * * *', 'expected at least 15 minutes between two runs'],
  ['0,5 4 * * *', 'expected at least 15 minutes between two runs'],
  ['0 0 1 1 *', 'expected a run at least once a month'],
  ['0 0 30 2 *', 'expected a run at least once a month'],
  ['* * * * * *', expect.stringMatching('6 parts')],
  ['nightly', expect.stringMatching('a cron expression')],
])('validates the schedule %s', (expression, problem) => {
  expect(scheduleProblem(expression)).toEqual(problem);
});

/** Service with its own clock and one integration. */
const scheduled = async (store: Store, schedule: string, clock: { now: number }, replicas = 1) => {
  const folder = aFolder();
  writeFileSync(join(folder, 'crm.csv'), 'EXTERNAL_ID,UPDATED_AT,PLAN\nkim,2026-02-01T10:00:00Z,gold\n');
  const workspace = workspaceWith(SOURCE, folder, { schedule, time_zone: 'Europe/Berlin' });
  const stops = Array.from({ length: replicas }, () =>
    startIngestion({ store, workspaces: () => [workspace], log: silentLog, now: () => clock.now, pollMs: 5 }),
  );
  const stop = async () => void (await Promise.all(stops.splice(0).map((each) => each())));
  onTestFinished(stop);
  return stop;
};
const ended = async (store: Store) =>
  (await store.ingestion.runs(W, ID, { limit: 99 })).filter(({ status }) => status !== 'running');

test('starts one run for all replicas, and one for three missed times', async () => {
  const store = await aStore();
  const clock = { now: Date.parse('2026-03-01T00:07:00Z') };
  const looks = vi.spyOn(store.ingestion, 'states');
  await scheduled(store, '*/15 * * * *', clock, 3);
  const looksOn = async (count: number) => {
    const before = looks.mock.calls.length;
    await vi.waitFor(() => expect(looks.mock.calls.length).toBeGreaterThan(before + count), PATIENCE);
  };
  await vi.waitFor(async () => expect(await ended(store)).toHaveLength(1), PATIENCE);
  clock.now = Date.parse('2026-03-01T00:14:59Z');
  await looksOn(9);
  expect(await ended(store)).toHaveLength(1);
  clock.now = Date.parse('2026-03-01T01:01:00Z');
  await vi.waitFor(async () => expect(await ended(store)).toHaveLength(2), PATIENCE);
  await looksOn(9);
  expect(await ended(store)).toHaveLength(2);
  expect((await store.ingestion.runs(W, ID, { limit: 1 }))[0]).toMatchObject({
    status: 'success',
    trigger: 'schedule',
  });
});

test('does not delay the next run if the clock moves back', async () => {
  const store = await aStore();
  const clock = { now: Date.parse('2026-03-05T00:00:30Z') };
  await scheduled(store, '0 * * * *', clock);
  await vi.waitFor(async () => expect(await ended(store)).toHaveLength(1), PATIENCE);
  clock.now = Date.parse('2026-03-01T00:30:00Z');
  const looks = vi.spyOn(store.ingestion, 'states');
  await vi.waitFor(() => expect(looks.mock.calls.length).toBeGreaterThan(5), PATIENCE);
  expect(await ended(store)).toHaveLength(1);
  clock.now = Date.parse('2026-03-01T01:00:01Z');
  // Due by the current clock, but the last run started in the future.
  expect(nextRunMs(berlin('0 * * * *'), Date.parse('2026-03-01T00:30:00Z'))).toBe(
    Date.parse('2026-03-01T01:00:00Z'),
  );
});

test('starts runs on demand only on request, and never while the integration is paused', async () => {
  const store = await aStore();
  const clock = { now: Date.parse('2026-03-01T00:00:00Z') };
  const looks = vi.spyOn(store.ingestion, 'states');
  const stop = await scheduled(store, 'paused', clock);
  await vi.waitFor(() => expect(looks.mock.calls.length).toBeGreaterThan(5), PATIENCE);
  await stop();
  await store.ingestion.request(W, ID, clock.now);
  await scheduled(store, 'on_demand', clock);
  await vi.waitFor(async () => expect(await ended(store)).toHaveLength(1), PATIENCE);
  expect(await ended(store)).toMatchObject([{ trigger: 'manual', status: 'success' }]);
});

test('continues a run that a shutdown interrupted at once in the next process', async () => {
  const store = await aStore();
  const clock = { now: Date.parse('2026-03-01T00:00:00Z') };
  const write = store.write.bind(store);
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const spy = vi.spyOn(store, 'write').mockImplementation(async () => {
    begun.resolve();
    await goOn.promise;
    throw new Error('The process is going');
  });
  const stop = await scheduled(store, 'on_demand', clock);
  await store.ingestion.request(W, ID, clock.now);
  await begun.promise;
  const stopped = stop();
  goOn.resolve();
  await stopped;
  spy.mockImplementation(write);
  clock.now += 1_000;
  await scheduled(store, 'on_demand', clock);
  await vi.waitFor(async () => expect(await ended(store)).toHaveLength(2), PATIENCE);
  expect((await ended(store)).map(({ status }) => status)).toEqual(['success', 'error']);
});

/** Leaves a run as a crashed process does, with an expired lease. */
const crash = async (store: Store, clock: { now: number }) => {
  const state = (await store.ingestion.states(W))[0] ?? null;
  const lease = { workspaceId: W, integrationId: ID, state, trigger: 'schedule' as const };
  await store.ingestion.acquireLease({ ...lease, nowMs: clock.now, leaseMs: 1_000 });
  clock.now += 60_000;
};
const suspended = 'The process ended during this run and during the one before';

test('starts a run that crashed its process twice only on request', async () => {
  const store = await aStore();
  const clock = { now: Date.parse('2026-03-01T00:00:00Z') };
  await crash(store, clock);
  await crash(store, clock);
  const looks = vi.spyOn(store.ingestion, 'states');
  const stop = await scheduled(store, '*/15 * * * *', clock);
  await vi.waitFor(async () => expect(await ended(store)).toHaveLength(2), PATIENCE);
  expect((await ended(store))[0]).toMatchObject({
    status: 'error',
    message: expect.stringMatching(suspended),
  });
  clock.now += 24 * 3_600_000;
  const before = looks.mock.calls.length;
  await vi.waitFor(() => expect(looks.mock.calls.length).toBeGreaterThan(before + 5), PATIENCE);
  expect(await ended(store)).toHaveLength(2);
  await store.ingestion.request(W, ID, clock.now);
  await vi.waitFor(async () => expect(await ended(store)).toHaveLength(3), PATIENCE);
  expect((await ended(store))[0]).toMatchObject({ status: 'success', trigger: 'manual' });
  // It finished normally, so its schedule applies again.
  clock.now += 3_600_000;
  await vi.waitFor(async () => expect(await ended(store)).toHaveLength(4), PATIENCE);
  await stop();
});

test('keeps the schedule after one crash', async () => {
  const store = await aStore();
  const clock = { now: Date.parse('2026-03-01T00:00:00Z') };
  await crash(store, clock);
  await scheduled(store, 'on_demand', clock);
  await vi.waitFor(async () => expect(await ended(store)).toHaveLength(2), PATIENCE);
  expect((await ended(store)).map(({ status }) => status)).toEqual(['success', 'error']);
});

test('ends a crashed run, even if its integration is paused', async () => {
  const store = await aStore();
  const clock = { now: Date.parse('2026-03-01T00:00:00Z') };
  await crash(store, clock);
  await scheduled(store, 'paused', clock);
  await vi.waitFor(async () => expect(await ended(store)).toHaveLength(1), PATIENCE);
  expect(await ended(store)).toMatchObject([
    { status: 'error', message: 'The process that ran it has ended, and the integration is paused' },
  ]);
});

test('fails a run that stored nothing within its time limit, and does not repeat it at once', async () => {
  const store = await aStore();
  const folder = aFolder();
  writeFileSync(join(folder, 'crm.csv'), 'EXTERNAL_ID,UPDATED_AT,PLAN\nkim,2026-02-01T10:00:00Z,gold\n');
  const workspace = workspaceWith(SOURCE, folder, { schedule: 'on_demand' });
  const ends: (string | null)[] = [];
  await store.ingestion.request(W, ID, Date.now());
  const options = { store, workspaces: () => [workspace], log: silentLog, pollMs: 5, runMs: 1 };
  onTestFinished(startIngestion({ ...options, onRun: ({ failure }) => void ends.push(failure) }));
  await vi.waitFor(() => expect(ends).toEqual(['timeout']), PATIENCE);
  expect(await ended(store)).toMatchObject([
    { status: 'error', message: 'Stopped after 0 minutes; the next run continues from there' },
  ]);
  expect((await store.ingestion.states(W))[0]).toMatchObject({ runId: '', requestedAtMs: null });
});

test('starts another run at once after one that exceeded its time limit, to store the rest', async () => {
  const store = await aStore();
  const folder = aFolder();
  const rows = Array.from({ length: 250 }, (_, n) => `u-${n},2026-02-01T10:00:00Z,gold\n`);
  writeFileSync(join(folder, 'crm.csv'), `EXTERNAL_ID,UPDATED_AT,PLAN\n${rows.join('')}`);
  const workspace = workspaceWith(SOURCE, folder, { schedule: 'on_demand' });
  const runMs = 60 * 60_000;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let isTimeOver = false;
  const slow: Store = {
    ...store,
    async write(work) {
      const value = await store.write(work);
      if (!isTimeOver) vi.advanceTimersByTime(runMs);
      isTimeOver = true;
      return value;
    },
  };
  await store.ingestion.request(W, ID, Date.now());
  const stop = startIngestion({
    store: slow,
    workspaces: () => [workspace],
    log: silentLog,
    pollMs: 5,
    runMs,
  });
  onTestFinished(stop);
  await vi.waitFor(async () => expect(await ended(store)).toHaveLength(2), PATIENCE);
  expect((await ended(store)).toReversed()).toMatchObject([
    {
      status: 'success',
      rowsSynced: 100,
      message: 'Stopped after 60 minutes; the next run continues from there',
    },
    { status: 'success', rowsSynced: 150, message: null },
  ]);
  expect(await store.ingestion.states(W)).toMatchObject([{ runId: '', requestedAtMs: null }]);
});
