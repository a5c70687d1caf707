import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import * as zlib from 'node:zlib';
import { parse } from 'csv-parse/sync';
import {
  type AsyncBuffer,
  type Compressors,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
} from 'hyparquet';
import { decoded, linesOf } from '../../protocol/index.ts';
import type { Source } from '../../service/index.ts';

type Values = Record<string, unknown>;

/** A row of a file, or a line that is none. `line` is `null` where a row has no place of its own. */
export type FileRow =
  | { names: readonly string[]; values: Values; line: number | null }
  | { reason: string; text: string; line: number };

const NOT_UTF8 = 'The line is not UTF-8';
/** What can be read of a line that is refused. */
const lossy = new TextDecoder();

/** A line of a text, counted from 1. */
interface Line {
  text: string;
  isUtf8: boolean;
  line: number;
}

async function* textLines(path: string): AsyncGenerator<Line, void> {
  let line = 0;
  for await (const bytes of linesOf(createReadStream(path))) {
    line += 1;
    const text = decoded(bytes);
    yield { text: text ?? lossy.decode(bytes), isUtf8: text !== null, line };
  }
}

async function* ndjsonRows(path: string): AsyncGenerator<FileRow, void> {
  for await (const { line, text, isUtf8 } of textLines(path)) {
    if (text.trim() === '') continue;
    let values: unknown = null;
    try {
      values = JSON.parse(text);
    } catch {
      // Not an object either.
    }
    const isRow = typeof values === 'object' && values !== null && !Array.isArray(values);
    if (!isUtf8) yield { reason: NOT_UTF8, text, line };
    else if (isRow) yield { names: Object.keys(values as Values), values: values as Values, line };
    else yield { reason: 'The line is not a JSON object', text, line };
  }
}

/** A cell in quotes may have as many lines; where it has more, the quote was never closed. */
const MAX_LINES_OF_RECORD = 200;

const cellsOf = (text: string, delimiter: string): string[] | null => {
  if (!text.includes('"')) return text.split(delimiter);
  try {
    const options = { delimiter, record_delimiter: '\n', relax_column_count: true };
    const [cells] = parse(text, options) as string[][];
    return cells ?? null;
  } catch {
    return null;
  }
};

const hasOpenQuote = (text: string): boolean => (text.split('"').length - 1) % 2 === 1;

/**
 * Records of a CSV. A quote that is never closed would take all lines after it with it: where a record over several lines
 * cannot be read, its first line is refused and the others are read anew.
 */
async function* csvRecords(
  path: string,
  delimiter: string,
): AsyncGenerator<Line & { cells: string[] | null }, void> {
  let held: Line[] = [];
  const next = (isEnd: boolean) => {
    for (let count = 1; count <= held.length; count += 1) {
      const lines = held.slice(0, count);
      // A line ends with LF or with CR and LF; within a cell in quotes both are kept.
      const text = lines
        .map((each) => each.text)
        .join('\n')
        .replace(/\r$/, '');
      const cells = hasOpenQuote(text) ? null : cellsOf(text, delimiter);
      const { line } = held[0]!;
      if (cells) {
        held = held.slice(count);
        return { cells, text, isUtf8: lines.every((each) => each.isUtf8), line };
      }
      const isOver = count === MAX_LINES_OF_RECORD || (isEnd && count === held.length) || !hasOpenQuote(text);
      if (!isOver) continue;
      const refused = held.shift()!;
      return { cells: null, ...refused };
    }
    return null;
  };
  for await (const each of textLines(path)) {
    if (held.length === 0 && each.text.trim() === '') continue;
    held.push(each);
    for (let record = next(false); record; record = next(false)) yield record;
  }
  for (let record = next(true); record; record = next(true)) yield record;
}

async function* csvRows(path: string, delimiter: string): AsyncGenerator<FileRow, void> {
  let names: string[] | null = null;
  for await (const { cells, text, isUtf8, line } of csvRecords(path, delimiter)) {
    if (names === null) {
      if (!cells || !isUtf8) throw new Error('the header of the CSV cannot be read');
      if (text.includes('\r')) throw new Error('the lines of the CSV end with CR alone: end them with LF');
      names = cells.map((cell) => cell.trim());
    } else if (!cells) yield { reason: 'A quote is not closed, or stands within a cell', text, line };
    else if (!isUtf8) yield { reason: NOT_UTF8, text, line };
    else if (cells.length !== names.length) {
      yield { reason: `The row has ${cells.length} cells, the header has ${names.length}`, text, line };
    } else {
      const values: Values = Object.create(null);
      // An empty cell is what a database writes for NULL.
      for (const [index, name] of names.entries()) values[name] = cells[index] === '' ? null : cells[index];
      yield { names, values, line };
    }
  }
}

/** Rows of a Parquet file that are in memory at once. */
const PARQUET_ROWS = 100_000;
const COMPRESSORS: Compressors = {
  GZIP: (input) => zlib.gunzipSync(input),
  BROTLI: (input) => zlib.brotliDecompressSync(input),
  ZSTD: (input) => zlib.zstdDecompressSync(input),
};

async function* parquetRows(path: string): AsyncGenerator<FileRow, void> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    const file: AsyncBuffer = {
      byteLength: size,
      async slice(start, end = size) {
        const bytes = new Uint8Array(end - start);
        await handle.read(bytes, 0, bytes.length, start);
        return bytes.buffer;
      },
    };
    const metadata = await parquetMetadataAsync(file);
    const names = parquetSchema(metadata).children.map(({ element }) => element.name);
    let groupStart = 0;
    for (const { num_rows } of metadata.row_groups) {
      const groupEnd = groupStart + Number(num_rows);
      for (let rowStart = groupStart; rowStart < groupEnd; rowStart += PARQUET_ROWS) {
        const rowEnd = Math.min(rowStart + PARQUET_ROWS, groupEnd);
        const rows = await parquetReadObjects({ file, metadata, rowStart, rowEnd, compressors: COMPRESSORS });
        for (const values of rows) yield { names, values, line: null };
      }
      groupStart = groupEnd;
    }
  } finally {
    await handle.close();
  }
}

function* sqliteRows(path: string, table: string): Generator<FileRow, void> {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const statement = database.prepare(`SELECT * FROM "${table.replaceAll('"', '""')}"`);
    const names = statement.columns().map(({ name }) => name);
    // One statement, so that all rows are of one moment.
    // As numbers, integers beyond 2^53 would be an error: a time in nanoseconds, for one.
    statement.setReadBigInts(true);
    for (const values of statement.iterate()) yield { names, values, line: null };
  } finally {
    database.close();
  }
}

/** The rows of one file. Throws where it is not of this kind. */
export const readRows = (
  source: Exclude<Source, { kind: 'postgres' }>,
  path: string,
): AsyncIterable<FileRow> | Iterable<FileRow> => {
  switch (source.kind) {
    case 'csv':
      return csvRows(path, source.delimiter ?? ',');
    case 'ndjson':
      return ndjsonRows(path);
    case 'parquet':
      return parquetRows(path);
    case 'sqlite':
      return sqliteRows(path, source.table);
  }
};
