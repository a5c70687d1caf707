import { createReadStream } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { decoded, isRecord, parseJson, splitLines } from '../../protocol/index.ts';
import type { Source } from '../../service/index.ts';
import type { ReadValue } from '../json-value.ts';
import { readRow } from '../read-row.ts';
import type { FileRow, PickColumns } from './file-row.ts';
import { readParquet } from './read-parquet.ts';
import { readSqlite } from './read-sqlite.ts';

/** Reader for values that are already JSON. */
const keep: ReadValue = (value) => value as ReturnType<ReadValue>;

/** Maximum size of a line or a multi-line CSV record. */
const MAX_LINE_BYTES = 16_000_000;
const NOT_UTF8 = 'The line is not UTF-8';
const TOO_LONG = 'The line has more than 16 MB';
/** Decodes the readable part of a rejected line. */
const lossy = new TextDecoder();

/** Line of text, numbered from 1. */
interface Line {
  text: string;
  /** Reason that the line is unreadable; `null` if it is readable. */
  problem: string | null;
  line: number;
}

async function* textLines(path: string): AsyncGenerator<Line, void> {
  let line = 0;
  for await (const bytes of splitLines(createReadStream(path), MAX_LINE_BYTES)) {
    line += 1;
    if (bytes.length > MAX_LINE_BYTES) {
      yield { text: '', problem: TOO_LONG, line };
      continue;
    }
    const text = decoded(bytes);
    yield { text: text ?? lossy.decode(bytes), problem: text === null ? NOT_UTF8 : null, line };
  }
}

const parseLine = (text: string): { values: Record<string, unknown> } | { reason: string } => {
  try {
    const values = parseJson(text);
    if (isRecord(values)) return { values };
  } catch (error) {
    // Only the message of a `RangeError` is shown, because that of a `SyntaxError` quotes the line.
    if (error instanceof RangeError) return { reason: `In the line ${error.message}` };
  }
  return { reason: 'The line is not a JSON object' };
};

async function* ndjsonRows(path: string, pick: PickColumns): AsyncGenerator<FileRow, void> {
  for await (const { line, text, problem } of textLines(path)) {
    if (problem === null && text.trim() === '') continue;
    const parsed = problem === null ? parseLine(text) : { reason: problem };
    if ('reason' in parsed) {
      yield { reason: parsed.reason, line };
      continue;
    }
    const { values } = parsed;
    const names = Object.keys(values);
    const picked = pick(names);
    const columns = picked.map((name) => ({ name, read: keep }));
    // Missing properties are `null`. Ignores properties inherited from `Object.prototype`.
    const cells = picked.map((name) => (Object.hasOwn(values, name) ? values[name] : null));
    yield { names, row: readRow(columns, cells), line };
  }
}

/** Maximum lines of a quoted cell. In a longer cell, the quote is treated as unclosed. */
const MAX_LINES_OF_RECORD = 200;

const parseCells = (text: string, delimiter: string): string[] | null => {
  if (!text.includes('"')) return text.split(delimiter);
  try {
    const options = { delimiter, record_delimiter: '\n', relax_column_count: true };
    const [cells] = parse(text, options);
    return cells ?? null;
  } catch {
    return null;
  }
};

const countQuotes = (text: string): number => text.split('"').length - 1;

/**
 * Parses CSV records. If a multi-line record is invalid, rejects its first line and parses the remaining lines again, because an
 * unclosed quote would consume the rest of the file.
 */
async function* csvRecords(
  path: string,
  delimiter: string,
): AsyncGenerator<Line & { cells: string[] | null }, void> {
  let held: Line[] = [];
  /** Scan state of `held`, updated incrementally: number of lines, quotes and characters. */
  let [seen, quotes, characters] = [0, 0, 0];
  const restart = () => {
    [seen, quotes, characters] = [0, 0, 0];
  };
  const refuseFirst = () => {
    restart();
    return { cells: null, ...held.shift()! };
  };
  const next = (isEnd: boolean) => {
    while (seen < held.length) {
      const { text: added, problem } = held[seen]!;
      seen += 1;
      quotes += countQuotes(added);
      characters += added.length;
      if (quotes % 2 === 0) {
        const lines = held.slice(0, seen);
        // Lines end with LF or CRLF. Quoted cells keep their line breaks.
        const text = lines
          .map((each) => each.text)
          .join('\n')
          .replace(/\r$/, '');
        const cells = parseCells(text, delimiter);
        if (!cells) return refuseFirst();
        held = held.slice(seen);
        restart();
        const found = lines.find((each) => each.problem !== null)?.problem ?? null;
        return { cells, text, problem: found, line: lines[0]!.line };
      }
      if (problem === TOO_LONG || seen === MAX_LINES_OF_RECORD || characters > MAX_LINE_BYTES)
        return refuseFirst();
    }
    return isEnd && held.length > 0 ? refuseFirst() : null;
  };
  for await (const each of textLines(path)) {
    if (held.length === 0 && each.problem === null && each.text.trim() === '') continue;
    held.push(each);
    for (let record = next(false); record; record = next(false)) yield record;
  }
  for (let record = next(true); record; record = next(true)) yield record;
}

/** Reader that converts empty cells to `null`, because databases export NULL as an empty cell. */
const readCell: ReadValue = (cell) => (cell === '' ? null : String(cell));

async function* csvRows(path: string, delimiter: string, pick: PickColumns): AsyncGenerator<FileRow, void> {
  let names: string[] | null = null;
  let columns: { name: string; read: ReadValue; index: number }[] | null = null;
  for await (const { cells, text, problem, line } of csvRecords(path, delimiter)) {
    if (names === null) {
      if (!cells || problem !== null)
        throw new Error('the header of the CSV cannot be read: expected text in UTF-8, not compressed');
      if (text.includes('\r')) throw new Error('the lines of the CSV end with CR alone: end them with LF');
      names = cells.map((cell) => cell.trim());
    } else if (problem !== null) yield { reason: problem, line };
    else if (!cells) yield { reason: 'Unclosed quote, or unescaped quote in a cell', line };
    else if (cells.length !== names.length) {
      yield { reason: `The row has ${cells.length} cells, the header has ${names.length}`, line };
    } else {
      const header = names;
      columns ??= pick(names).map((name) => ({ name, read: readCell, index: header.indexOf(name) }));
      const picked = columns.map(({ index }) => cells[index]);
      yield { names, row: readRow(columns, picked), line };
    }
  }
}

/** Reads the rows of a file. Calls `pick` before the first row or with it. Throws if the file has another format. */
export const readRows = (
  source: Exclude<Source, { kind: 'postgres' }>,
  path: string,
  pick: PickColumns,
): AsyncIterable<FileRow> | Iterable<FileRow> => {
  switch (source.kind) {
    case 'csv':
      return csvRows(path, source.delimiter ?? ',', pick);
    case 'ndjson':
      return ndjsonRows(path, pick);
    case 'parquet':
      return readParquet(path, pick);
    case 'sqlite':
      return readSqlite(path, source.table, pick);
  }
};
