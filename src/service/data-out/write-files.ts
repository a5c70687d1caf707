import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import type { DataEvent } from './data-event.ts';
import type { ColumnType, DataEventName } from './event-types.ts';
import { fileColumns, fileRow } from './formats.ts';

const PARQUET_TYPES = {
  string: 'STRING',
  int: 'INT32',
  long: 'INT64',
  double: 'DOUBLE',
  boolean: 'BOOLEAN',
  json: 'STRING',
} as const satisfies Record<ColumnType, string>;

/** Limits a time in seconds to 32 bits. `time_ms` has the exact time. */
const toInt32 = (value: unknown) =>
  value === null ? null : Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, Number(value)));

const parquet = (type: DataEventName, events: readonly DataEvent[]): Uint8Array => {
  const rows = events.map(fileRow);
  const columnData = fileColumns(type).map(([name, columnType]) => ({
    name,
    type: PARQUET_TYPES[columnType],
    nullable: true,
    data: rows.map((row) => {
      const value = row[name] ?? null;
      if (columnType === 'int') return toInt32(value);
      return columnType === 'long' ? BigInt(Number(value)) : value;
    }),
  }));
  return new Uint8Array(parquetWriteBuffer({ columnData }));
};

const ndjson = (_type: DataEventName, events: readonly DataEvent[]): string =>
  events.map((event) => `${JSON.stringify(fileRow(event))}\n`).join('');

/** File formats, by extension. */
export const FILE_FORMATS = { parquet, ndjson };
export type FileFormat = keyof typeof FILE_FORMATS;

const TEMPORARY = '.tmp';

/** Removes unfinished files of a process that ended while writing. */
export const removeUnfinished = (folder: string): void => {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    if (name.endsWith(TEMPORARY)) rmSync(join(folder, name));
};

/**
 * Writes events of a workspace to Hive partitions, such as `event_type=…/date=…/<workspace>-<name>.<format>`, by the UTC date of
 * the event. Writes each file atomically, and replaces an existing file. Returns the paths.
 */
export const writePartitions = (
  folder: string,
  format: FileFormat,
  name: string,
  events: readonly DataEvent[],
): string[] => {
  const partitions = Map.groupBy(events, ({ type, timeMs }) =>
    join(`event_type=${type}`, `date=${new Date(timeMs).toISOString().slice(0, 10)}`),
  );
  const files = [...partitions].map(([partition, rows]) => {
    const { type, workspaceId } = rows[0]!;
    const file = join(folder, partition, `${encodeURIComponent(workspaceId)}-${name}.${format}`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file + TEMPORARY, FILE_FORMATS[format](type, rows), { flush: true });
    return file;
  });
  for (const file of files) renameSync(file + TEMPORARY, file);
  return files;
};
