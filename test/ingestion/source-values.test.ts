import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { SchemaElement } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { Client } from 'pg';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { ingestTap } from '../../src/cli/ingest.ts';
import { checkSource } from '../../src/ingestion/check-source.ts';
import { createRestClient } from '../../src/server/index.ts';
import { createFakeService } from '../../src/testing/index.ts';
import { aDatabase } from '../helpers/postgres.ts';
import { aFolder, aStore, exported, getRejects, ingest, workspaceWith } from './ingest.ts';
import { SOURCE_VALUES, type SourceValue, UNREADABLE_VALUES, type UnreadableValue } from './source-values.ts';

const T = '2026-03-01T10:00:00Z';
const STANDARD = { id: 'kim', external_id: 'kim', updated_at: T, name: 'viewed', time: T };

type Kind = 'postgres' | 'sqlite' | 'parquet' | 'csv' | 'json';

/** Source values as columns `c0`, `c1`, … of one row with the key `kim`. */
const valuesIn = (kind: Kind) =>
  SOURCE_VALUES.flatMap((value, at) => (value[kind] ? [{ ...value, name: `c${at}` }] : []));
/** Values that JSON cannot represent, as columns `u0`, `u1`, …, each in a row with its name as key. */
const unreadableIn = (kind: 'postgres' | 'sqlite' | 'parquet') =>
  UNREADABLE_VALUES.flatMap((value, at) => (value[kind] ? [{ ...value, name: `u${at}` }] : []));

const getAs = (value: SourceValue, kind: Kind): string | undefined => {
  if (kind === 'csv') return value.csv?.as;
  return kind === 'sqlite' ? value.sqlite?.[2] : undefined;
};

const getSource = (kind: Kind, more: Record<string, unknown>) => {
  const typed = valuesIn(kind).map((value) => [value.name, getAs(value, kind)] as const);
  const unreadable = kind === 'csv' || kind === 'json' ? [] : unreadableIn(kind);
  const columns = [...typed, ...unreadable.map(({ name }) => [name, undefined] as const)];
  return {
    rows: 'events',
    key: 'id',
    columns: {
      name: 'name',
      time: 'time',
      ...Object.fromEntries(columns.map(([name, as]) => [name, `properties.${name}${as ? `:${as}` : ''}`])),
    },
    ...more,
  };
};

interface Column {
  name: string;
  expression: string;
}

/** Query for the row of values, plus one row per value that JSON cannot represent. */
const query = (updatedAt: string, values: readonly Column[], unreadable: readonly Column[]): string => {
  const keys = ['kim', ...unreadable.map(({ name }) => name)].map((key) => `SELECT '${key}' AS id`);
  const cell = (key: string, { name, expression }: Column) =>
    `CASE WHEN id = '${key}' THEN ${expression} END AS ${name}`;
  const cells = [
    `'kim' AS external_id, 'viewed' AS name, '${T}' AS time, ${updatedAt} AS updated_at`,
    ...values.map((column) => cell('kim', column)),
    ...unreadable.map((column) => cell(column.name, column)),
  ];
  return `SELECT id, ${cells.join(', ')} FROM (${keys.join(' UNION ALL ')}) AS keys`;
};

const literal = ([type, text]: readonly [string, string]) =>
  text === 'NULL' ? `NULL::${type}` : `'${text.replaceAll("'", "''")}'::${type}`;

const inPostgres = async () => {
  const url = new URL(await aDatabase());
  const client = new Client({ connectionString: url.href });
  await client.connect();
  onTestFinished(() => client.end());
  const columns = valuesIn('postgres').map(({ name, postgres }) => ({
    name,
    expression: literal(postgres!),
  }));
  const unreadable = unreadableIn('postgres').map(({ name, postgres }) => ({
    name,
    expression: literal(postgres!),
  }));
  await client.query(`CREATE VIEW happenings AS ${query(`'${T}'::timestamptz`, columns, unreadable)}`);
  vi.stubEnv('SOURCE_PASSWORD', decodeURIComponent(url.password));
  url.password = '';
  // Role and database settings do not change the values read.
  await client.query(
    `ALTER DATABASE "${url.pathname.slice(1)}" SET TimeZone = 'Asia/Kolkata';
     ALTER DATABASE "${url.pathname.slice(1)}" SET DateStyle = 'German';
     ALTER DATABASE "${url.pathname.slice(1)}" SET bytea_output = 'escape';
     ALTER DATABASE "${url.pathname.slice(1)}" SET extra_float_digits = 0`,
  );
  return getSource('postgres', {
    kind: 'postgres',
    url: url.href,
    password_env: 'SOURCE_PASSWORD',
    table: 'happenings',
  });
};

const inSqlite = (folder: string) => {
  const database = new DatabaseSync(join(folder, 'source.db'));
  const columns = valuesIn('sqlite').map(({ name, sqlite }) => ({ name, expression: sqlite![1] }));
  const unreadable = unreadableIn('sqlite').map(({ name, sqlite }) => ({ name, expression: sqlite![1] }));
  database.exec(`CREATE TABLE happenings AS ${query(`'${T}'`, columns, unreadable)}`);
  database.close();
  return getSource('sqlite', { kind: 'sqlite', files: 'source.db', table: 'happenings' });
};

const inParquet = (folder: string) => {
  const values = valuesIn('parquet');
  const unreadable = unreadableIn('parquet');
  const keys = ['kim', ...unreadable.map(({ name }) => name)];
  const columns = [...values, ...unreadable].map(({ name, parquet }) => ({
    name,
    schema: parquet!.schema.map((element, at) =>
      at === 0 ? { ...element, name } : element,
    ) as SchemaElement[],
    data: keys.map((key) => (key === name || (key === 'kim' && name.startsWith('c')) ? parquet!.data : null)),
  }));
  const standard = Object.entries(STANDARD).map(([name, value]) => ({
    name,
    schema: [
      { name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
    ] as SchemaElement[],
    data: keys.map((key) => (name === 'id' ? key : value)),
  }));
  const all = [...standard, ...columns];
  const buffer = parquetWriteBuffer({
    schema: [{ name: 'root', num_children: all.length }, ...all.flatMap(({ schema }) => schema)],
    columnData: all.map(({ name, data }) => ({ name, data })),
    statistics: false,
  });
  writeFileSync(join(folder, 'source.parquet'), Buffer.from(buffer));
  return getSource('parquet', { kind: 'parquet', files: 'source.parquet' });
};

const inCsv = (folder: string) => {
  const cells = {
    ...STANDARD,
    ...Object.fromEntries(valuesIn('csv').map(({ name, csv }) => [name, csv!.text])),
  };
  const quoted = Object.values(cells).map((cell) => (cell === '' ? '' : `"${cell.replaceAll('"', '""')}"`));
  writeFileSync(join(folder, 'source.csv'), `${Object.keys(cells).join(',')}\n${quoted.join(',')}\n`);
  return getSource('csv', { kind: 'csv', files: 'source.csv' });
};

const inNdjson = (folder: string) => {
  const members = valuesIn('json').map(({ name, json }) => `"${name}":${json}`);
  const line = `{${JSON.stringify(STANDARD).slice(1, -1)},${members.join(',')}}\n`;
  writeFileSync(join(folder, 'source.ndjson'), line);
  return getSource('json', { kind: 'ndjson', files: 'source.ndjson' });
};

const SOURCES: readonly (readonly [string, Kind, (folder: string) => unknown])[] = [
  ['PostgreSQL', 'postgres', inPostgres],
  ['SQLite', 'sqlite', inSqlite],
  ['Parquet', 'parquet', inParquet],
  ['CSV', 'csv', inCsv],
  ['NDJSON', 'json', inNdjson],
];

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('the values of type', () => {
  test.each(SOURCES)('%s are stored and checked as the table says', async (_, kind, make) => {
    const folder = aFolder();
    const store = await aStore();
    const source = (await make(folder)) as Record<string, unknown>;
    const workspace = workspaceWith(source, folder);
    const rejected = kind === 'csv' || kind === 'json' ? [] : unreadableIn(kind);

    const [shown] = await checkSource(workspace, workspace.integrations![0]!.source!);
    await ingest(store, source, folder);
    const [event] = await exported(store, 'events');
    const properties = event!['properties'] as Record<string, unknown>;
    expect(JSON.parse(JSON.stringify(Object(shown!.object).properties))).toEqual(properties);
    const byTitle = valuesIn(kind).map(({ title, name }) => [title, properties[name]]);
    expect(byTitle).toEqual(valuesIn(kind).map(({ title, stored }) => [title, stored]));

    const reasons = await getRejects(store);
    expect(reasons).toEqual(rejected.map(({ name, reason }) => [name, `${name} ${reason}`]).toSorted());
  });
});

test('sends a record of a Singer tap like an NDJSON line', async () => {
  const service = createFakeService();
  const client = createRestClient({ endpoint: service.origin, apiKey: 'server-key', fetch: service.fetch });
  const values = valuesIn('json');
  const members = values.map(({ name, json }) => `"${name}":${json}`);
  const record = `{${JSON.stringify(STANDARD).slice(1, -1)},${members.join(',')}}`;
  async function* input() {
    yield Buffer.from(`{"type":"RECORD","stream":"a","record":${record}}\n`);
  }
  const columns = [
    'external_id=external_id,name=name,time=time',
    ...values.map(({ name }) => `${name}=properties.${name}`),
  ].join(',');
  const end = await ingestTap({ client, input: input(), array: 'events', columns, stream: undefined });
  expect(end).toEqual({ stored: 1, rejected: 0 });
  const { properties } = service.objects[0]!.object as { properties: Record<string, unknown> };
  expect(values.map(({ title, name }) => [title, properties[name]])).toEqual(
    values.map(({ title, stored }) => [title, stored]),
  );
});

const code = (text: string) =>
  text === '' ? '' : `\`${text.replaceAll('|', '\\|').replaceAll('\u2028', '\\u2028')}\``;

const line = (value: SourceValue | UnreadableValue): string => {
  const { title, postgres, sqlite, parquet } = value;
  const { csv, json, stored } = value as SourceValue;
  const types = [postgres?.[0], sqlite?.[0], parquet?.type].map((type) => code(type ?? ''));
  const as = sqlite && (value as SourceValue).sqlite?.[2];
  if (as) types[1] += ` with \`:${as}\``;
  const texts =
    'reason' in value
      ? ['', '']
      : [csv ? `${code(csv.text) || 'empty'}${csv.as ? ` with \`:${csv.as}\`` : ''}` : '', code(json ?? '')];
  const becomes =
    'reason' in value ? `reject: ${value.reason.replace(/1(0{9,})/, '1000…')}` : code(JSON.stringify(stored));
  return `| ${[title, ...types, ...texts, becomes].join(' | ')} |`;
};

test('documents each source value (update with `vitest -u`)', async () => {
  const file = 'docs/reference/ingestion-types.md';
  const table = [...SOURCE_VALUES, ...UNREADABLE_VALUES].map(line).join('\n');
  const page = readFileSync(file, 'utf8').replace(
    /(\| Value \|.*\n\|-.*\n)(?:\|[^\n]*\n)*/,
    (_, head: string) => `${head}${table}\n`,
  );
  await expect(page).toMatchFileSnapshot(join('../..', file));
});
