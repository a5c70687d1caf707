import { Readable } from 'node:stream';
import { CsvError, type Info, parse } from 'csv-parse';
import {
  decoded,
  type InputArray,
  MAX_BODY_BYTES,
  type MemberPath,
  memberPath,
  setMember,
} from '../../protocol/index.ts';
import type { InputLine } from './input-line.ts';

type Read = (text: string) => unknown;

const WRONG = Symbol('wrong');

const number: Read = (text) => {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : WRONG;
};
const boolean: Read = (text) => ({ true: true, false: false })[text.trim().toLowerCase()] ?? WRONG;
const json: Read = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return WRONG;
  }
};
const TYPES: Readonly<Record<string, Read>> = { text: (text) => text, number, boolean, json };

/** Members that are numbers wherever they are. */
const NUMBERS = ['price', 'quantity'];
interface Column {
  /** As it is written in the header. */
  title: string;
  path: MemberPath;
  type: string;
}

const columnOf = (title: string, position: number, array: InputArray): Column => {
  const [, name = '', type] = /^(.*?)(?::([^:]*))?$/s.exec(title.trim()) ?? [];
  if (name === '') throw new Error(`column ${position + 1} has no name`);
  const byDefault = array === 'purchases' && NUMBERS.includes(name) ? 'number' : 'text';
  if (type !== undefined && !Object.hasOwn(TYPES, type)) {
    throw new Error(
      `column "${title}" has the type "${type}"; write ${Object.keys(TYPES).join(', ')} after the colon`,
    );
  }
  return { title, path: memberPath(array, name), type: type ?? byDefault };
};

/**
 * Reads the header of a CSV and returns what makes an object of each row's cells, with the reason where the row cannot be
 * sent. An empty cell is left out. Throws where the header itself cannot be used.
 */
const csvColumns = (header: readonly string[], array: InputArray) => {
  const columns = header.map((title, position) => columnOf(title, position, array));
  const paths = columns.map(({ path }) => path.join('.'));
  const twice = paths.find((path, position) => paths.indexOf(path) !== position);
  if (twice !== undefined) throw new Error(`the column "${twice}" is there twice`);

  return (cells: readonly string[]): { object: Record<string, unknown>; reason?: string } => {
    // Without a prototype: a column may have any name.
    const object: Record<string, unknown> = Object.create(null);
    let reason =
      cells.length === columns.length
        ? undefined
        : `expected ${columns.length} cells as in the header, got ${cells.length}`;
    for (const [position, { title, path, type }] of columns.entries()) {
      const text = cells[position] ?? '';
      if (text === '') continue;
      const read = TYPES[type]!(text);
      // A row that is refused keeps what was written, so that a person can correct it.
      const value = read === WRONG ? text : read;
      if (read === WRONG)
        reason ??= `the column "${title}" expects ${type === 'json' ? 'JSON' : `a ${type}`}`;
      setMember(object, path, value);
    }
    return reason === undefined ? { object } : { object, reason };
  };
};

const OTHER_DELIMITER = /[;\t|]/;

export interface CsvOptions {
  array: InputArray;
  /** One character. */
  delimiter: string;
}

/** The library's own messages quote cells: the user's own data. */
const sentenceOf = (error: CsvError): string => {
  const line = `line ${error['lines']}`;
  return error.code === 'CSV_MAX_RECORD_SIZE'
    ? `${line}: a row is larger than a request may be; perhaps a quote is not closed`
    : `${line}: a quote is not closed, or stands within a cell; perhaps something else parts the columns: --delimiter ';'`;
};

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** The library decodes everything as it likes where it finds the mark: it must not see one. */
async function* withoutMark(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let head: Buffer | null = Buffer.alloc(0);
  for await (const chunk of input) {
    if (head === null) yield chunk;
    else {
      head = Buffer.concat([head, chunk]);
      if (head.length < BYTE_ORDER_MARK.length) continue;
      yield head.indexOf(BYTE_ORDER_MARK) === 0 ? head.subarray(BYTE_ORDER_MARK.length) : head;
      head = null;
    }
  }
  if (head !== null) yield head;
}

/** Rows of a CSV with a header, as objects of one array; a row counts as the line on which it ends. */
export async function* csvRows(
  input: AsyncIterable<Buffer>,
  { array, delimiter }: CsvOptions,
): AsyncGenerator<InputLine, void> {
  // Cells as bytes: decoding them is ours, so that another encoding is noticed.
  const parser = parse({
    delimiter,
    encoding: null,
    info: true,
    max_record_size: MAX_BODY_BYTES,
    relax_column_count: true,
    skip_empty_lines: true,
  });
  const rows = Readable.from(withoutMark(input), { objectMode: false })
    .on('error', (error) => parser.destroy(error))
    .pipe(parser);
  let objectOf: ReturnType<typeof csvColumns> | undefined;
  try {
    for await (const { record, info } of rows as AsyncIterable<{ record: Buffer[]; info: Info }>) {
      const line = info.lines;
      const cells = record.map(decoded);
      const isText = cells.every((cell) => cell !== null);
      if (objectOf) {
        if (!isText) {
          yield { line, array, reason: 'a row must be UTF-8' };
          continue;
        }
        const { object, reason } = objectOf(cells);
        yield reason === undefined ? { line, objects: [{ array, object }] } : { line, array, reason, object };
        continue;
      }
      // U+0000 is in every text of UTF-16.
      if (!isText || cells.some((cell) => cell.includes('\0'))) {
        throw new Error('the header of the CSV is not UTF-8; save the file as CSV UTF-8');
      }
      const [only = ''] = cells;
      if (cells.length === 1 && OTHER_DELIMITER.test(only)) {
        throw new Error(
          `the header has one column, "${only}"; name what parts the columns, such as --delimiter ';'`,
        );
      }
      objectOf = csvColumns(cells, array);
    }
  } catch (error) {
    throw error instanceof CsvError ? new Error(sentenceOf(error)) : error;
  }
}
