import { hash } from 'node:crypto';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import * as zlib from 'node:zlib';
import { parquetWriteBuffer, schemaFromColumnData } from 'hyparquet-writer';
import { describe, expect, test, vi } from 'vitest';
import { parseTimestamp } from '../../src/ingestion/files/timestamp.ts';
import { RunTimeoutError } from '../../src/ingestion/run-outcome.ts';
import { MAX_CUSTOM_ATTRIBUTES, MAX_EVENT_NAMES } from '../../src/protocol/index.ts';
import { checkRow, ingestMutation, stampText } from '../../src/service/index.ts';
import { aDatabase } from '../helpers/postgres.ts';
import { aFolder, aStore, exported, getRejects, getState, ID, ingest, W, workspaceWith } from './ingest.ts';

const T = '2026-03-01T10:00:00Z';
const CUSTOMERS = {
  kind: 'csv',
  files: 'customers.csv',
  rows: 'attributes',
  columns: { PLAN: 'plan', VISITS: 'visits:number' },
};
const EVENTS = { kind: 'ndjson', files: 'events-*.ndjson', rows: 'events', key: 'ID' };

const csvIn = (folder: string, ...lines: string[]) =>
  writeFileSync(
    join(folder, 'customers.csv'),
    `${['EXTERNAL_ID,UPDATED_AT,PLAN,VISITS', ...lines].join('\n')}\n`,
  );

const anEvent = (id: number, more: Record<string, unknown> = {}) =>
  `${JSON.stringify({ ID: id, EXTERNAL_ID: 'kim', UPDATED_AT: T, PAYLOAD: { name: 'viewed', time: T, properties: { id } }, ...more })}\n`;

const getIds = (events: Record<string, unknown>[]) =>
  events.map(({ properties }) => (properties as { id: number }).id).sort((a, b) => a - b);

describe('a CSV or NDJSON file', () => {
  test('sets attributes, and stores each row once', async () => {
    const store = await aStore();
    const folder = aFolder();
    csvIn(folder, `kim,${T},"gold, old",3`, `lee,${T},silver,`);
    expect(await ingest(store, CUSTOMERS, folder)).toMatchObject({
      status: 'success',
      rowsSynced: 2,
      rowsFailed: 0,
    });
    const users = await exported(store, 'users');
    expect(users.map(({ external_id, custom_attributes }) => [external_id, custom_attributes])).toEqual([
      ['kim', { plan: 'gold, old', visits: 3 }],
      ['lee', { plan: 'silver' }],
    ]);
    expect(await ingest(store, CUSTOMERS, folder)).toMatchObject({ status: 'success', rowsSynced: 0 });
  });

  test('unsets an attribute if a cell is empty', async () => {
    const store = await aStore();
    const folder = aFolder();
    csvIn(folder, `kim,${T},gold,3`);
    await ingest(store, CUSTOMERS, folder);
    csvIn(folder, 'kim,2026-03-01T11:00:00Z,,4');
    await ingest(store, CUSTOMERS, folder);
    expect((await exported(store, 'users'))[0]!['custom_attributes']).toEqual({ visits: 4 });
  });

  test('with one object per line rejects objects without a user, and ignores unknown members', async () => {
    const store = await aStore();
    const folder = aFolder();
    const lines = [
      anEvent(1),
      `${JSON.stringify({ x: 1 })}\n`,
      anEvent(2, { PAYLOAD: undefined }),
      anEvent(3, { more: 1 }),
    ];
    writeFileSync(join(folder, 'events-a.ndjson'), lines.join(''));
    expect(await ingest(store, EVENTS, folder)).toMatchObject({
      status: 'partial',
      rowsSynced: 2,
      rowsFailed: 2,
    });
    expect((await getRejects(store)).map(([, reason]) => reason).toSorted()).toEqual([
      expect.stringMatching('The column "UPDATED_AT" is missing'),
      'There is no column PAYLOAD, and `columns` maps none',
    ]);
    const gone = { kind: 'ndjson', files: 'events-a.ndjson', rows: 'deletes' };
    expect(await ingest(store, gone, folder)).toMatchObject({ status: 'error', rowsSynced: 0 });
  });

  test('rejects only invalid lines, and imports them once they are fixed in place', async () => {
    const store = await aStore();
    const folder = aFolder();
    csvIn(
      folder,
      `kim,${T},gold,1`,
      `lee,${T},"open,2`,
      `ann,2026-03-01T10:00:01Z,"multi\nline",3`,
      `bob,${T},x,y,z`,
      `joe,${T},a,b`,
      `eve,${T},a,5`,
    );
    expect(await ingest(store, CUSTOMERS, folder)).toMatchObject({
      status: 'partial',
      rowsSynced: 3,
      rowsFailed: 3,
    });
    expect((await getRejects(store)).map(([, reason]) => reason).toSorted()).toEqual([
      'The row has 5 cells, the header has 4',
      'Unclosed quote, or unescaped quote in a cell',
      'VISITS is not a number',
    ]);
    csvIn(
      folder,
      `kim,${T},gold,1`,
      `lee,${T},"open",2`,
      `ann,2026-03-01T10:00:01Z,"multi\nline",3`,
      `bob,${T},x,7`,
      `joe,${T},a,6`,
      `eve,${T},a,5`,
    );
    expect(await ingest(store, CUSTOMERS, folder)).toMatchObject({
      status: 'success',
      rowsSynced: 3,
      rowsFailed: 0,
    });
    expect(await getRejects(store)).toEqual([]);
    expect(await exported(store, 'users')).toHaveLength(6);
  });

  test('keeps every character of its cells, and rejects only lines that are not UTF-8', async () => {
    const store = await aStore();
    const folder = aFolder();
    const plans = ['a\u2028b', 'c\ufffd', '"d\r\ne"', 'f\rg', 'J\xf6rg'];
    const lines = plans.map((plan, index) => `u-${index},${T},${plan},1`);
    const bytes = [
      Buffer.from(`\ufeffEXTERNAL_ID,UPDATED_AT,PLAN,VISITS\r\n${lines.slice(0, 4).join('\r\n')}\r\n`),
      Buffer.from(`${lines[4]}\r\n`, 'latin1'),
    ];
    writeFileSync(join(folder, 'customers.csv'), Buffer.concat(bytes));
    expect(await ingest(store, CUSTOMERS, folder)).toMatchObject({ rowsSynced: 4, rowsFailed: 1 });
    expect(await getRejects(store)).toEqual([[null, 'The line is not UTF-8']]);
    const users = await exported(store, 'users');
    expect(users.map(({ custom_attributes }) => Object(custom_attributes).plan)).toEqual([
      'a\u2028b',
      'c\ufffd',
      'd\r\ne',
      'f\rg',
    ]);
    writeFileSync(join(folder, 'customers.csv'), `EXTERNAL_ID,UPDATED_AT,PLAN,VISITS\ru-9,${T},x,1\r`);
    expect(await ingest(store, CUSTOMERS, folder)).toMatchObject({
      status: 'error',
      message: 'File customers.csv: the lines of the CSV end with CR alone: end them with LF',
    });
  });

  test('fails the run if it is compressed, and reports the expected format', async () => {
    const folder = aFolder();
    writeFileSync(join(folder, 'customers.csv'), zlib.gzipSync(`EXTERNAL_ID,UPDATED_AT\nkim,${T}\n`));
    expect(await ingest(await aStore(), CUSTOMERS, folder)).toMatchObject({
      status: 'error',
      message:
        'File customers.csv: the header of the CSV cannot be read: expected text in UTF-8, not compressed',
    });
  });

  test('fails the run with the reason if the file or a column is missing, and the next run continues', async () => {
    const store = await aStore();
    const folder = aFolder();
    expect((await ingest(store, CUSTOMERS, folder)).message).toMatch(/ENOENT/);
    writeFileSync(join(folder, 'customers.csv'), 'EXTERNAL_ID,UPDATED_AT,PLAM\n');
    const failed = await ingest(store, CUSTOMERS, folder);
    expect(failed).toMatchObject({ status: 'success' });
    writeFileSync(join(folder, 'customers.csv'), `EXTERNAL_ID,UPDATED_AT,PLAM\nkim,${T},x\n`);
    expect(await ingest(store, CUSTOMERS, folder)).toMatchObject({
      status: 'error',
      message: 'The column "PLAN" is missing (mapped to plan); there are EXTERNAL_ID, UPDATED_AT, PLAM',
    });
    csvIn(folder, `kim,${T},gold,1`);
    expect(await ingest(store, CUSTOMERS, folder)).toMatchObject({ status: 'success', rowsSynced: 1 });
  });
});

describe('row ingestion', () => {
  test('stores rows with the same time in many files once each, over many batches', async () => {
    const store = await aStore();
    const folder = aFolder();
    for (const file of [0, 1, 2]) {
      const lines = Array.from({ length: 230 }, (_, index) => anEvent(file * 230 + index));
      writeFileSync(join(folder, `events-${file}.ndjson`), lines.join(''));
    }
    expect(await ingest(store, EVENTS, folder)).toMatchObject({ status: 'success', rowsSynced: 690 });
    appendFileSync(join(folder, 'events-2.ndjson'), anEvent(999));
    expect(await ingest(store, EVENTS, folder)).toMatchObject({ rowsSynced: 1 });
    expect(getIds(await exported(store, 'events'))).toEqual([
      ...Array.from({ length: 690 }, (_, i) => i),
      999,
    ]);
  });

  test('stores rows with the same time and key together, because a watermark cannot separate them', async () => {
    const store = await aStore();
    const folder = aFolder();
    const lines = Array.from({ length: 150 }, (_, id) =>
      anEvent(1, { PAYLOAD: { name: 'viewed', time: T, properties: { id } } }),
    );
    writeFileSync(join(folder, 'events-0.ndjson'), lines.join(''));
    const write = store.write.bind(store);
    const spy = vi.spyOn(store, 'write').mockImplementationOnce(write);
    spy.mockRejectedValue(new Error('The process is gone'));
    await ingest(store, EVENTS, folder);
    spy.mockImplementation(write);
    await ingest(store, EVENTS, folder);
    expect(getIds(await exported(store, 'events'))).toEqual(lines.map((_, id) => id));
  });

  test('stores rows beyond the time limit of a run in the next one, and keeps the others', async () => {
    const store = await aStore();
    const folder = aFolder();
    csvIn(folder, ...Array.from({ length: 250 }, (_, at) => `u-${at},${T},gold,1`));
    const stop = new AbortController();
    const write = store.write.bind(store);
    const spy = vi.spyOn(store, 'write').mockImplementation(async (work) => {
      const value = await write(work);
      stop.abort(new RunTimeoutError('Stopped after 60 minutes; the next run continues from there'));
      return value;
    });
    expect(await ingest(store, CUSTOMERS, folder, { signal: stop.signal })).toMatchObject({
      status: 'success',
      rowsSynced: 100,
      message: 'Stopped after 60 minutes; the next run continues from there',
    });
    spy.mockImplementation(write);
    expect(await ingest(store, CUSTOMERS, folder)).toMatchObject({ status: 'success', rowsSynced: 150 });
  });

  test('stores rows that appear twice in a run once, and those with other values separately', async () => {
    const store = await aStore();
    const folder = aFolder();
    const other = anEvent(1, { PAYLOAD: { name: 'viewed', time: T, properties: { id: 3 } } });
    writeFileSync(join(folder, 'events-1.ndjson'), anEvent(1) + anEvent(2) + anEvent(1) + other);
    writeFileSync(join(folder, 'events-2.ndjson'), anEvent(2) + other + anEvent(1));
    expect(await ingest(store, EVENTS, folder)).toMatchObject({ status: 'success', rowsSynced: 3 });
    expect(getIds(await exported(store, 'events'))).toEqual([1, 2, 3]);
  });

  test('fails the run if column names are ambiguous, even if they differ only in case', async () => {
    const store = await aStore();
    const folder = aFolder();
    const file = join(folder, 'customers.csv');
    const columns = { kind: 'csv', files: 'customers.csv', rows: 'attributes', columns: { PLAN: 'plan' } };
    for (const header of ['EXTERNAL_ID,UPDATED_AT,PLAN,External_Id', 'EXTERNAL_ID,UPDATED_AT,PLAN,PLAN']) {
      writeFileSync(file, `${header}\nkim,${T},gold,lee\n`);
      const { status, message } = await ingest(store, columns, folder);
      expect([status, message]).toEqual([
        'error',
        expect.stringMatching(
          /^The column "(EXTERNAL_ID|PLAN)" is ambiguous, because names are case-insensitive/,
        ),
      ]);
    }
    // The duplicate column is not mapped.
    writeFileSync(file, `EXTERNAL_ID,UPDATED_AT,PLAN,NOTE,note\nkim,${T},gold,a,b\n`);
    expect(await ingest(store, columns, folder)).toMatchObject({ status: 'success', rowsSynced: 1 });
    // An invalid NDJSON line rejects only itself.
    const lines = [
      { EXTERNAL_ID: 'lee', external_id: 'ann', UPDATED_AT: T, PLAN: 'x' },
      { EXTERNAL_ID: 'bob', UPDATED_AT: T, PLAN: 'x' },
    ];
    writeFileSync(join(folder, 'lines.ndjson'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const ndjson = { ...columns, kind: 'ndjson', files: 'lines.ndjson' };
    expect(await ingest(await aStore(), ndjson, folder)).toMatchObject({ rowsSynced: 1, rowsFailed: 1 });
    expect((await exported(store, 'users')).map(({ external_id }) => external_id)).toEqual(['kim']);
  });

  test.each([
    ['2026-03-01T10:00:00.123456789Z', '2026-03-01T10:00:00.123456790Z'],
    ['1772359200123456788', '1772359200123456789'],
    ['1772359200.1234561', '1772359200.1234562'],
  ])('reads all rows within the same microsecond (%s, then %s)', async (first, second) => {
    const store = await aStore();
    const folder = aFolder();
    const file = join(folder, 'events-a.ndjson');
    const lines = [anEvent(9, { UPDATED_AT: first })];
    writeFileSync(file, lines.join(''));
    expect(await ingest(store, EVENTS, folder)).toMatchObject({ rowsSynced: 1 });
    // One row with a smaller key, and the same row changed again.
    lines.push(anEvent(1, { UPDATED_AT: second }), anEvent(9, { UPDATED_AT: second }));
    writeFileSync(file, lines.join(''));
    expect(await ingest(store, EVENTS, folder)).toMatchObject({ status: 'success', rowsSynced: 2 });
    expect(await ingest(store, EVENTS, folder)).toMatchObject({ rowsSynced: 0 });
    expect(getIds(await exported(store, 'events'))).toEqual([1, 9, 9]);
  });

  test('fails the run with the fix if more than 1,000 rows have the same key and time', async () => {
    const store = await aStore();
    const folder = aFolder();
    const lines = Array.from({ length: 1_001 }, (_, at) => `kim,${T},plan ${at},1`);
    csvIn(folder, ...lines);
    expect(await ingest(store, CUSTOMERS, folder)).toMatchObject({
      status: 'error',
      message: expect.stringMatching(
        /^More than 1000 rows, or 4 MB, have one key and one UPDATED_AT: name in `key`/,
      ),
    });
  });

  test('uses small batches for large rows', async () => {
    const store = await aStore();
    const folder = aFolder();
    const write = vi.spyOn(store, 'write');
    const line = (id: number) =>
      anEvent(id, { PAYLOAD: { name: 'viewed', time: T, text: 'x'.repeat(300_000) } });
    writeFileSync(join(folder, 'events-a.ndjson'), Array.from({ length: 12 }, (_, id) => line(id)).join(''));
    expect(await ingest(store, EVENTS, folder)).toMatchObject({ rowsSynced: 12 });
    expect(write).toHaveBeenCalledTimes(3);
  });

  test('does not fail a run for rows that earlier runs rejected, and reports their number', async () => {
    const store = await aStore();
    const folder = aFolder();
    csvIn(folder, `kim,${T},gold,1`, `lee,${T},gold,many`, 'ann,soon,gold,1');
    expect(await ingest(store, CUSTOMERS, folder)).toMatchObject({ status: 'partial', rowsFailed: 2 });
    expect(await ingest(store, CUSTOMERS, folder)).toMatchObject({
      status: 'success',
      rowsSynced: 0,
      rowsFailed: 0,
      message: '2 rows are still rejected',
    });
    expect(await getRejects(store)).toHaveLength(2);
  });

  test('validates rows like requests, and retries them with their current values', async () => {
    const store = await aStore();
    const folder = aFolder();
    const file = join(folder, 'events-a.ndjson');
    writeFileSync(
      file,
      anEvent(1) +
        anEvent(2, { PAYLOAD: '{"name":"viewed"}' }) +
        anEvent(3, { EXTERNAL_ID: 'blocked' }) +
        anEvent(4, { PAYLOAD: 5 }),
    );
    const first = await ingest(store, EVENTS, folder);
    expect(first).toMatchObject({ status: 'partial', rowsSynced: 1, rowsFailed: 3 });
    expect(await getRejects(store)).toEqual([
      ['2', "'time' is required"],
      ['3', 'BLACKLISTED_EXTERNAL_USER_ID'],
      ['4', 'PAYLOAD is not a JSON object'],
    ]);
    // One row is fixed with the same time, one with a new time, and one is removed.
    writeFileSync(file, anEvent(1) + anEvent(2) + anEvent(3, { UPDATED_AT: '2026-03-01T11:00:00Z' }));
    expect(await ingest(store, EVENTS, folder)).toMatchObject({
      status: 'success',
      rowsSynced: 2,
      rowsFailed: 0,
    });
    expect(await getRejects(store)).toEqual([]);
    expect(getIds(await exported(store, 'events'))).toEqual([1, 2, 3]);
    expect(await ingest(store, EVENTS, folder)).toMatchObject({ rowsSynced: 0 });
  });

  test.each([
    ['+25:00', null],
    ['+02:60', null],
    ['+0200', Date.parse('2026-03-01T08:00:00Z') * 1_000],
    [' UTC', Date.parse(T) * 1_000],
    ['', Date.parse(T) * 1_000],
  ])('reads times with the zone "%s" in that zone', (zone, us) => {
    expect(parseTimestamp(`2026-03-01T10:00:00${zone}`)?.timeUs ?? null).toBe(us);
  });

  test('rejects rows without a key, without a time or with a future time, and stores the others', async () => {
    const store = await aStore();
    const folder = aFolder();
    const file = join(folder, 'events-a.ndjson');
    const rows =
      anEvent(1, { UPDATED_AT: '2029-01-01T00:00:00Z' }) +
      anEvent(2, { UPDATED_AT: 'soon' }) +
      anEvent(3, { ID: null }) +
      anEvent(4);
    writeFileSync(file, rows);
    const now = () => Date.parse('2026-04-01T00:00:00Z');
    expect(await ingest(store, EVENTS, folder, { now })).toMatchObject({
      status: 'partial',
      rowsSynced: 1,
      rowsFailed: 3,
    });
    expect((await getState(store))?.watermark).toEqual({ timeUs: Date.parse(T) * 1000, sortKey: '4' });
    expect((await getRejects(store)).map(([, reason]) => reason).sort()).toEqual([
      'The row has no ID, or a key of more than 2,000 bytes',
      'The row has no UPDATED_AT, or one that is not a time',
      'UPDATED_AT is in the future',
    ]);
    writeFileSync(file, rows + anEvent(5, { UPDATED_AT: '2026-03-31T00:00:00Z' }));
    expect(await ingest(store, EVENTS, folder, { now })).toMatchObject({
      rowsSynced: 1,
      rowsFailed: 0,
      message: '3 rows are still rejected',
    });
    const later = () => Date.parse('2029-01-02T00:00:00Z');
    expect(await ingest(store, EVENTS, folder, { now: later })).toMatchObject({
      rowsSynced: 1,
      rowsFailed: 0,
      message: '2 rows are still rejected',
    });
    expect(getIds(await exported(store, 'events'))).toEqual([1, 4, 5]);
  });

  test.each([0, 86_400])(
    'stores each earlier row of a reject once, with a lookback of %s seconds',
    async (lookback) => {
      const store = await aStore();
      const folder = aFolder();
      const source = { kind: 'ndjson', files: 'log.ndjson', rows: 'attributes', lookback_seconds: lookback };
      const row = (time: string, PAYLOAD: unknown) =>
        `${JSON.stringify({ EXTERNAL_ID: 'kim', UPDATED_AT: `2026-03-01T${time}:00Z`, PAYLOAD })}\n`;
      const run = async (...rows: string[]) => {
        writeFileSync(join(folder, 'log.ndjson'), rows.join(''));
        const { rowsSynced, rowsFailed } = await ingest(store, source, folder);
        const [user] = await exported(store, 'users');
        return [rowsSynced, rowsFailed, Object(user!['custom_attributes']).points];
      };
      const first = row('09:00', { points: { inc: 10 } });
      const bad = row('10:00', { email: 'not an address' });
      expect(await run(first, bad)).toEqual([1, 1, 10]);
      expect(await run(first, bad)).toEqual([0, 0, 10]);
      // A row of another user moves the watermark.
      const other = row('11:00', { plan: 'team' }).replace('kim', 'lee');
      expect(await run(first, bad, other)).toEqual([1, 0, 10]);
      expect(await getRejects(store)).toHaveLength(1);
      const fixed = row('10:00', { points: { inc: 5 } });
      expect(await run(first, fixed, other)).toEqual([1, 0, 15]);
      expect(await run(first, fixed, other)).toEqual([0, 0, 15]);
      expect(await getRejects(store)).toEqual([]);
      const worse = row('12:00', { email: 'not an address' });
      expect(await run(first, fixed, other, worse)).toEqual([0, 1, 15]);
      expect(await run(first, fixed, other)).toEqual([0, 0, 15]);
      expect(await getRejects(store)).toEqual([]);
    },
  );

  test.each([0, 86_400])(
    'stores each row with the key and time of a reject once, with a lookback of %s seconds',
    async (lookback) => {
      const store = await aStore();
      const folder = aFolder();
      const source = { ...EVENTS, lookback_seconds: lookback };
      const line = (id: number, more = {}) =>
        anEvent(1, { PAYLOAD: { name: 'bought', time: T, properties: { id }, ...more } });
      const run = async (...rows: string[]) => {
        writeFileSync(join(folder, 'events-a.ndjson'), rows.join(''));
        const { rowsSynced, rowsFailed } = await ingest(store, source, folder);
        return [rowsSynced, rowsFailed, getIds(await exported(store, 'events'))];
      };
      const bad = line(2, { time: 'soon' });
      expect(await run(bad, line(1))).toEqual([1, 1, [1]]);
      expect(await run(bad, line(1))).toEqual([0, 0, [1]]);
      expect(await run(bad, line(3), line(1), anEvent(9, { UPDATED_AT: '2026-03-01T11:00:00Z' }))).toEqual([
        2,
        0,
        [1, 3, 9],
      ]);
      expect(await run(bad, line(3), line(1))).toEqual([0, 0, [1, 3, 9]]);
      expect(await getRejects(store)).toHaveLength(1);
      expect(await run(line(2), line(3), line(1))).toEqual([1, 0, [1, 2, 3, 9]]);
      expect(await run(line(2), line(3), line(1))).toEqual([0, 0, [1, 2, 3, 9]]);
      expect(await getRejects(store)).toEqual([]);
    },
  );

  test('opens no reject for a row within the lookback whose key has a stored newer row', async () => {
    const store = await aStore();
    const folder = aFolder();
    const source = { ...EVENTS, lookback_seconds: 3_600 };
    const at = (time: string, name: unknown, id = 1) =>
      anEvent(id, { UPDATED_AT: `2026-03-01T${time}:00Z`, PAYLOAD: { name, time: T, properties: { id } } });
    const run = async (...rows: string[]) => {
      writeFileSync(join(folder, 'events-a.ndjson'), rows.join(''));
      const { rowsSynced, rowsFailed } = await ingest(store, source, folder);
      return [rowsSynced, rowsFailed, (await getRejects(store)).length];
    };
    const [bad, corrected, later] = [at('09:00', 7), at('09:10', 'bought'), at('23:00', 'bought', 2)];
    expect(await run(bad)).toEqual([0, 1, 1]);
    expect(await run(bad, corrected)).toEqual([1, 0, 0]);
    expect(await run(bad, corrected)).toEqual([0, 0, 0]);
    expect(await run(bad, corrected, later)).toEqual([1, 0, 0]);
    expect(await run(bad, corrected, later)).toEqual([0, 0, 0]);
    expect(getIds(await exported(store, 'events'))).toEqual([1, 2]);
  });

  test('stores attributes once if a rejected row of their key and time follows', async () => {
    const store = await aStore();
    const folder = aFolder();
    const source = { ...EVENTS, rows: 'attributes', key: 'EXTERNAL_ID', lookback_seconds: 3_600 };
    const run = async (...payloads: unknown[]) => {
      const rows = payloads.map((PAYLOAD) => anEvent(1, { PAYLOAD }));
      writeFileSync(join(folder, 'events-a.ndjson'), rows.join(''));
      await ingest(store, source, folder);
      const [user] = await exported(store, 'users');
      return Object(user!['custom_attributes']).points;
    };
    const bad = { email: 'not an address' };
    expect(await run({ points: { inc: 10 } })).toBe(10);
    expect(await run({ points: { inc: 10 } }, bad)).toBe(10);
    expect(await run({ points: { inc: 10 } }, bad)).toBe(10);
    expect(await getRejects(store)).toHaveLength(1);
  });

  test('stores rows with the key and time of a row that the database rejects once', async () => {
    const store = await aStore();
    const folder = aFolder();
    const line = (id: number) => anEvent(1, { PAYLOAD: { name: 'bought', time: T, properties: { id } } });
    writeFileSync(join(folder, 'events-a.ndjson'), [1, 2, 3].map(line).join(''));
    const rejection = Object.assign(new Error('value out of range'), { code: '22003' });
    const write = store.write.bind(store);
    // All rows, rows 2 and 3, and row 2 fail.
    const spy = vi.spyOn(store, 'write').mockRejectedValueOnce(rejection);
    spy.mockImplementationOnce(write).mockRejectedValueOnce(rejection).mockRejectedValueOnce(rejection);
    expect(await ingest(store, EVENTS, folder)).toMatchObject({ rowsSynced: 2, rowsFailed: 1 });
    expect(await getRejects(store)).toEqual([['1', 'The database cannot hold a value of the row']]);
    expect(getIds(await exported(store, 'events'))).toEqual([1, 3]);
    expect(await ingest(store, EVENTS, folder)).toMatchObject({ rowsSynced: 1, rowsFailed: 0 });
    expect(getIds(await exported(store, 'events'))).toEqual([1, 2, 3]);
  });

  test('closes a reject that is gone, even if another row has its key and time', async () => {
    const store = await aStore();
    const folder = aFolder();
    csvIn(folder, `kim,${T},gold,1`, `kim,${T},gold,many`);
    expect(await ingest(store, CUSTOMERS, folder)).toMatchObject({ rowsSynced: 1, rowsFailed: 1 });
    csvIn(folder, `kim,${T},gold,1`);
    expect(await ingest(store, CUSTOMERS, folder)).toMatchObject({ rowsSynced: 0, message: null });
    expect(await getRejects(store)).toEqual([]);
  });

  test('stores late rows within lookback_seconds once, without moving the watermark', async () => {
    const store = await aStore();
    const folder = aFolder();
    const file = join(folder, 'events-a.ndjson');
    const at = (id: number, minute: number) =>
      anEvent(id, { UPDATED_AT: `2026-03-01T10:${String(minute).padStart(2, '0')}:00Z` });
    const lagging = { ...EVENTS, lookback_seconds: 600 };
    const rows = [at(1, 0), at(2, 20), at(3, 30)];
    const run = async (source: Record<string, unknown>) => {
      writeFileSync(file, rows.join(''));
      return (await ingest(store, source, folder)).rowsSynced;
    };
    expect(await run(EVENTS)).toBe(3);
    // Without a lag, stored rows are not tracked one by one.
    rows.push(at(4, 25));
    expect(await run(lagging)).toBe(0);
    rows.push(at(5, 40), at(6, 35));
    expect(await run(lagging)).toBe(2);
    rows.push(at(7, 31), at(8, 10));
    expect(await run(lagging)).toBe(1);
    expect((await getState(store))?.watermark?.sortKey).toBe('5');
    expect(await run(lagging)).toBe(0);
    rows.push(at(9, 40), at(10, 50));
    expect(await run(lagging)).toBe(2);
    expect(getIds(await exported(store, 'events'))).toEqual([1, 2, 3, 5, 6, 7, 9, 10]);
  });

  test('stores attributes that change twice on one date within lookback_seconds', async () => {
    const store = await aStore();
    const folder = aFolder();
    const source = { ...CUSTOMERS, lookback_seconds: 86_400 };
    const run = async (...lines: string[]) => {
      csvIn(folder, ...lines);
      const { rowsSynced } = await ingest(store, source, folder);
      const users = await exported(store, 'users');
      return [rowsSynced, ...users.map((user) => Object(user['custom_attributes']).plan)];
    };
    expect(await run('kim,2026-03-01,free,1')).toEqual([1, 'free']);
    expect(await run('kim,2026-03-01,team,1', 'ann,2026-03-01,free,1')).toEqual([2, 'team', 'free']);
    expect(await run('kim,2026-03-01,team,1', 'ann,2026-03-01,free,1')).toEqual([0, 'team', 'free']);
  });

  test('finds columns of an NDJSON line in any case', async () => {
    const store = await aStore();
    const folder = aFolder();
    const source = {
      ...EVENTS,
      rows: 'attributes',
      key: 'External_ID',
      columns: { PLAN: 'plan', Seats: 'seats' },
    };
    const rows = [
      { external_id: 'kim', updated_at: T, plan: 'free' },
      { EXTERNAL_ID: 'lee', Updated_At: T, Plan: 'team', SEATS: 3 },
    ];
    writeFileSync(join(folder, 'events-a.ndjson'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    expect(await ingest(store, source, folder)).toMatchObject({ status: 'success', rowsSynced: 2 });
    const users = await exported(store, 'users');
    expect(users.map(({ custom_attributes }) => custom_attributes)).toEqual([
      { plan: 'free' },
      { plan: 'team', seats: 3 },
    ]);
  });

  test('erases users for deletes, and fails the run if a delete has a payload', async () => {
    const store = await aStore();
    const folder = aFolder();
    csvIn(folder, `kim,${T},gold,1`, `lee,${T},gold,1`);
    await ingest(store, CUSTOMERS, folder);
    const deletes = { kind: 'ndjson', files: 'gone.ndjson', rows: 'deletes' };
    const row = { EXTERNAL_ID: 'kim', UPDATED_AT: '2026-03-02T00:00:00Z' };
    writeFileSync(join(folder, 'gone.ndjson'), JSON.stringify({ ...row, PAYLOAD: {} }));
    expect(await ingest(store, deletes, folder)).toMatchObject({
      status: 'error',
      message: expect.stringMatching('deletes'),
    });
    expect(await exported(store, 'users')).toHaveLength(2);
    writeFileSync(join(folder, 'gone.ndjson'), JSON.stringify(row));
    expect(await ingest(store, deletes, folder)).toMatchObject({ status: 'success', rowsSynced: 1 });
    expect((await exported(store, 'users')).map(({ external_id }) => external_id)).toEqual(['lee']);
  });

  test('reads rows from a table of a SQLite file', async () => {
    const store = await aStore();
    const folder = aFolder();
    const database = new DatabaseSync(join(folder, 'crm.db'));
    database.exec(`CREATE TABLE customers (email TEXT, updated_at INTEGER, tier TEXT, score REAL);
      INSERT INTO customers VALUES ('kim@example.org', 1772359200, 'gold', 1.5), ('lee@example.org', 1772359201, NULL, 2)`);
    database.close();
    const source = {
      kind: 'sqlite',
      files: 'crm.db',
      table: 'customers',
      rows: 'attributes',
      columns: { tier: 'tier', score: 'score' },
    };
    expect(await ingest(store, source, folder)).toMatchObject({ status: 'success', rowsSynced: 2 });
    expect(
      (await exported(store, 'users')).map(({ email, custom_attributes }) => [email, custom_attributes]),
    ).toEqual([
      ['kim@example.org', { tier: 'gold', score: 1.5 }],
      ['lee@example.org', { score: 2 }],
    ]);
  });
});

describe('edge values', () => {
  test('reads nanosecond times above 2^53 from a SQLite file', async () => {
    const store = await aStore();
    const folder = aFolder();
    const database = new DatabaseSync(join(folder, 'crm.db'));
    database.exec(`CREATE TABLE customers (external_id TEXT, updated_at INTEGER, visits INTEGER);
      INSERT INTO customers VALUES ('kim', 1772359200123456789, 3)`);
    database.close();
    const source = {
      kind: 'sqlite',
      files: 'crm.db',
      table: 'customers',
      rows: 'attributes',
      columns: { visits: 'visits' },
    };
    expect(await ingest(store, source, folder)).toMatchObject({ status: 'success', rowsSynced: 1 });
    expect(await exported(store, 'users')).toMatchObject([{ custom_attributes: { visits: 3 } }]);
  });

  test('accepts a line feed in a column name', async () => {
    const store = await aStore();
    const folder = aFolder();
    writeFileSync(
      join(folder, 'customers.csv'),
      'EXTERNAL_ID,UPDATED_AT,"Full\nname"\nkim,2026-03-01T10:00:00Z,Kim\n',
    );
    const source = {
      kind: 'csv',
      files: 'customers.csv',
      rows: 'attributes',
      columns: { 'Full\nname': 'label' },
    };
    expect(await ingest(store, source, folder)).toMatchObject({ status: 'success', rowsSynced: 1 });
  });

  test.each(['SQLite', 'PostgreSQL'])(
    'rejects a value that no database can store, and completes the run, on %s',
    async (kind) => {
      const store = await aStore(kind === 'SQLite' ? undefined : await aDatabase());
      const folder = aFolder();
      const file = join(folder, 'events-a.ndjson');
      // UTF-16, as in some exports: every second byte is U+0000.
      writeFileSync(file, Buffer.from(anEvent(1), 'utf16le'));
      expect(await ingest(store, EVENTS, folder)).toMatchObject({ rowsSynced: 0 });
      const long = Array.from({ length: 3_000 }, (_, at) =>
        String.fromCharCode(97 + ((at * at * 7) % 26)),
      ).join('');
      // Incompressible, so PostgreSQL cannot compress it for its index.
      const longest = Array.from({ length: 50 }, (_, at) => hash('sha512', `${at}`, 'base64')).join('');
      writeFileSync(
        file,
        anEvent(2, { UPDATED_AT: null, EXTERNAL_ID: long }) +
          anEvent(3, { ID: `a\u0000b` }) +
          anEvent(4, { ID: long }) +
          anEvent(5) +
          // Rows that fail validation and whose rejects must be stored.
          anEvent(6, { EXTERNAL_ID: longest }) +
          anEvent(7, { EXTERNAL_ID: 'a\u0000b' }) +
          anEvent(8, { PAYLOAD: { name: 'n', time: T, properties: { 'a\u0000': null } } }),
      );
      expect(await ingest(store, EVENTS, folder)).toMatchObject({ status: 'partial', rowsSynced: 1 });
      expect(await getRejects(store)).toEqual(
        expect.arrayContaining(['6', '7', '8'].map((key) => [key, expect.any(String)])),
      );
      expect(getIds(await exported(store, 'events'))).toEqual([5]);
    },
  );

  test('rejects an event beyond the limit of its user', async () => {
    const store = await aStore();
    const folder = aFolder();
    const file = join(folder, 'events-a.ndjson');
    const named = (id: number) => ({ external_id: 'u-1', name: `name ${id}`, time: T });
    const workspace = workspaceWith(EVENTS, folder);
    const known = Array.from({ length: MAX_EVENT_NAMES - 1 }, (_, id) =>
      checkRow('events', named(id), workspace, Date.now()),
    ).flatMap((row) => ('reason' in row ? [] : [row]));
    await store.write(ingestMutation('test', known, Date.now(), []));
    const rows = [MAX_EVENT_NAMES - 1, MAX_EVENT_NAMES].map((id) =>
      anEvent(id, { EXTERNAL_ID: 'u-1', PAYLOAD: { name: `name ${id}`, time: T } }),
    );
    writeFileSync(file, rows.join(''));
    expect(await ingest(store, EVENTS, folder)).toMatchObject({
      status: 'partial',
      rowsSynced: 1,
      rowsFailed: 1,
    });
    expect(await getRejects(store)).toHaveLength(1);
  });

  test('stores rows whose updates together exceed the work limit of a request', async () => {
    const store = await aStore();
    const folder = aFolder();
    const source = { ...EVENTS, rows: 'attributes' };
    const getRow = (id: number, PAYLOAD: unknown) => anEvent(id, { EXTERNAL_ID: `u-${id}`, PAYLOAD });
    const ids = Array.from({ length: 11 }, (_, id) => id);
    const list = Array.from({ length: 12_000 }, () => ({ a: 1 }));
    const workspace = workspaceWith(source, folder);
    const lists = ids
      .map((id) => checkRow('attributes', { external_id: `u-${id}`, list }, workspace, Date.now()))
      .flatMap((row) => ('reason' in row ? [] : [row]));
    await store.write(ingestMutation('test', lists, Date.now(), []));
    const update = { $update: [{ $identifier_key: 'a', $identifier_value: 1, $new_object: { a: 2 } }] };
    const rows = ids.map((id) => getRow(id, { list: update, tier: 'gold' }));
    writeFileSync(join(folder, 'events-a.ndjson'), rows.join(''));
    expect(await ingest(store, source, folder)).toMatchObject({ rowsSynced: 11, rowsFailed: 0 });
    const users = await exported(store, 'users');
    expect(users.map(({ custom_attributes }) => Object(custom_attributes).tier)).toEqual(
      ids.map(() => 'gold'),
    );
  });

  test('stores the rows after a row that exceeds the attribute limit of their user', async () => {
    const store = await aStore();
    const folder = aFolder();
    const source = { ...EVENTS, rows: 'attributes', key: 'EXTERNAL_ID' };
    const named = (prefix: string, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [prefix + at, 1]));
    const rows = [
      named('a', MAX_CUSTOM_ATTRIBUTES - 10),
      named('b', 20),
      named('c', 5),
      { points: { inc: 1 } },
    ].map((PAYLOAD, at) => anEvent(at, { UPDATED_AT: `2026-03-01T10:00:0${at}Z`, PAYLOAD }));
    writeFileSync(join(folder, 'events-a.ndjson'), rows.join(''));
    expect(await ingest(store, source, folder)).toMatchObject({ rowsSynced: 3, rowsFailed: 1 });
    expect(await ingest(store, source, folder)).toMatchObject({ rowsSynced: 0, rowsFailed: 0 });
    const [user] = await exported(store, 'users');
    expect(user!['custom_attributes']).toMatchObject({ a0: 1, c4: 1, points: 1 });
    expect(user!['custom_attributes']).not.toHaveProperty('b0');
  });

  test('stores nothing of a row that exceeds the attribute limit of its user', async () => {
    const store = await aStore();
    const folder = aFolder();
    const source = { ...EVENTS, rows: 'attributes', key: 'EXTERNAL_ID' };
    const workspace = workspaceWith(source, folder);
    const write = async (object: Record<string, unknown>) => {
      const row = checkRow('attributes', { external_id: 'kim', ...object }, workspace, Date.now());
      if ('reason' in row) throw new Error(row.reason);
      await store.write(ingestMutation('test', [row], Date.now(), []));
    };
    const names = Array.from({ length: MAX_CUSTOM_ATTRIBUTES }, (_, id) => (id === 0 ? 'points' : `a${id}`));
    await write({ ...Object.fromEntries(names.map((name) => [name, 1])), first_name: 'Kim' });
    const update = { points: { inc: 10 }, first_name: 'Old', created: 1 };
    const other = anEvent(2, { EXTERNAL_ID: 'lee', PAYLOAD: { points: 5 } });
    writeFileSync(join(folder, 'events-a.ndjson'), anEvent(1, { PAYLOAD: update }) + other);
    const getUser = async () => {
      const [user] = await exported(store, 'users');
      return [user!['first_name'], Object(user!['custom_attributes']).points];
    };
    expect(await ingest(store, source, folder)).toMatchObject({ rowsSynced: 1, rowsFailed: 1 });
    expect(await ingest(store, source, folder)).toMatchObject({ rowsSynced: 0, rowsFailed: 0 });
    expect(await getUser()).toEqual(['Kim', 1]);
    expect(await getRejects(store)).toEqual([['kim', expect.stringMatching(/^'created' /)]]);
    await write({ a1: null });
    expect(await ingest(store, source, folder)).toMatchObject({ rowsSynced: 1, rowsFailed: 0 });
    expect(await ingest(store, source, folder)).toMatchObject({ rowsSynced: 0, rowsFailed: 0 });
    expect(await getUser()).toEqual(['Old', 11]);
  });

  test('truncates a long row or line in the list of rejects, and reads a binary file as one line', async () => {
    const store = await aStore();
    const folder = aFolder();
    const long = 'é'.repeat(300_000);
    const rows = [anEvent(1, { EXTERNAL_ID: 'u-1', PAYLOAD: { name: long, time: T } }), `{"${long}\n`];
    writeFileSync(join(folder, 'events-a.ndjson'), rows.join(''));
    expect(await ingest(store, EVENTS, folder)).toMatchObject({ status: 'error', rowsFailed: 2 });
    const rejects = await store.ingestion.rejects(W, ID, { limit: 9 });
    const ends = rejects.map(({ payload }) => [payload.length, payload.at(-1)]);
    expect(ends).toEqual([
      [20_001, '…'],
      // The position of the line instead of its content.
      ['events-a.ndjson#2'.length, '2'],
    ]);
  });

  test('stores times before 1970 unchanged', () => {
    expect(stampText(-1)).toBe('1969-12-31T23:59:59.999999Z');
    expect(stampText(1_772_359_200_123_456)).toBe('2026-03-01T10:00:00.123456Z');
  });
});

describe('Parquet files', () => {
  test('return rows of one millisecond in two runs by their microseconds', async () => {
    const store = await aStore();
    const folder = aFolder();
    const source = {
      kind: 'parquet',
      files: 'orders.parquet',
      rows: 'events',
      key: 'id',
      columns: { kind: 'name', at: 'time', id: 'properties.id' },
    };
    const write = (...us: number[]) => {
      const columnData = [
        { name: 'id', data: us.map((_, id) => id) },
        { name: 'external_id', data: us.map(() => 'kim') },
        { name: 'kind', data: us.map(() => 'viewed') },
        { name: 'at', data: us.map(() => T) },
        { name: 'updated_at', data: us.map((each) => BigInt(Date.parse(T)) * 1_000n + BigInt(each)) },
      ];
      const schema = schemaFromColumnData({
        columnData,
        schemaOverrides: {
          updated_at: { name: 'updated_at', type: 'INT64', converted_type: 'TIMESTAMP_MICROS' },
        },
      });
      writeFileSync(join(folder, 'orders.parquet'), Buffer.from(parquetWriteBuffer({ schema, columnData })));
    };
    write(123_100);
    expect(await ingest(store, source, folder)).toMatchObject({ rowsSynced: 1 });
    write(123_100, 123_800, 123_900);
    expect(await ingest(store, source, folder)).toMatchObject({ status: 'success', rowsSynced: 2 });
    expect(getIds(await exported(store, 'events'))).toEqual([0, 1, 2]);
  });

  test.each(['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'ZSTD', 'BROTLI'] as const)(
    'return each row once over several row groups (%s)',
    async (codec) => {
      const store = await aStore();
      const folder = aFolder();
      const ids = Array.from({ length: 700 }, (_, index) => index);
      const compressed = {
        GZIP: (input: Uint8Array) => new Uint8Array(zlib.gzipSync(input)),
        ZSTD: (input: Uint8Array) => new Uint8Array(zlib.zstdCompressSync(input)),
        BROTLI: (input: Uint8Array) => new Uint8Array(zlib.brotliCompressSync(input)),
      };
      const buffer = parquetWriteBuffer({
        codec,
        compressors: compressed,
        rowGroupSize: 300,
        columnData: [
          { name: 'id', data: ids.map(BigInt), type: 'INT64' },
          { name: 'external_id', data: ids.map((id) => `u-${id % 5}`), type: 'STRING' },
          { name: 'updated_at', data: ids.map((id) => new Date(Date.parse(T) + id)), type: 'TIMESTAMP' },
          { name: 'kind', data: ids.map(() => 'viewed'), type: 'STRING' },
          { name: 'at', data: ids.map(() => T), type: 'STRING' },
          { name: 'score', data: ids.map((id) => id / 2), type: 'DOUBLE' },
        ],
      });
      writeFileSync(join(folder, 'orders.parquet'), Buffer.from(buffer));
      const source = {
        kind: 'parquet',
        files: '*.parquet',
        rows: 'events',
        key: 'ID',
        columns: { kind: 'name', at: 'time', id: 'properties.id', score: 'properties.score' },
      };
      expect(await ingest(store, source, folder)).toMatchObject({
        status: 'success',
        rowsSynced: 700,
        message: null,
      });
      const events = await exported(store, 'events');
      expect(getIds(events)).toEqual(ids);
      expect(events.find(({ properties }) => (properties as { id: number }).id === 3)).toMatchObject({
        external_id: 'u-3',
        properties: { id: 3, score: 1.5 },
      });
      expect(await ingest(store, source, folder)).toMatchObject({ rowsSynced: 0 });
    },
  );
});
