import { Readable } from 'node:stream';
import { CsvError, type Info, parse } from 'csv-parse';
import {
  type ColumnMapping,
  convertColumn,
  decoded,
  type InputArray,
  MAX_BODY_BYTES,
  parseMapping,
  setMember,
} from '../../protocol/index.ts';
import type { InputLine } from './input-line.ts';

/** Properties that are always numbers. */
const NUMBERS = ['price', 'quantity'];
interface Column extends ColumnMapping {
  /** Column title in the header. */
  title: string;
}

const parseTitle = (title: string, position: number, array: InputArray): Column => {
  const mapping = parseMapping(array, title, title.trim());
  const name = mapping.path.join('.');
  if (name === '') throw new Error(`column ${position + 1} has no name`);
  const byDefault = array === 'purchases' && NUMBERS.includes(name) ? 'number' : 'text';
  return { title, path: mapping.path, type: mapping.type ?? byDefault };
};

/**
 * Parses a CSV header. Returns a function that converts the cells of a row to an object, with a reason if the row is invalid.
 * Omits empty cells. Throws if the header is invalid.
 */
const csvColumns = (header: readonly string[], array: InputArray) => {
  const columns = header.map((title, position) => parseTitle(title, position, array));
  const paths = columns.map(({ path }) => path.join('.'));
  const duplicate = paths.find((path, position) => paths.indexOf(path) !== position);
  if (duplicate !== undefined) throw new Error(`expected distinct columns, got "${duplicate}" twice`);

  return (cells: readonly string[]): { object: Record<string, unknown>; reason?: string } => {
    const object: Record<string, unknown> = Object.create(null);
    let reason =
      cells.length === columns.length
        ? undefined
        : `expected ${columns.length} cells as in the header, got ${cells.length}`;
    for (const [position, { title, path, type }] of columns.entries()) {
      const text = cells[position] ?? '';
      if (text === '') continue;
      const converted = convertColumn(text, type);
      // A rejected row keeps the original text, so that users can correct it.
      if ('expected' in converted) reason ??= `the column "${title}" expects ${converted.expected}`;
      setMember(object, path, 'expected' in converted ? text : converted.value);
    }
    return reason === undefined ? { object } : { object, reason };
  };
};

const OTHER_DELIMITER = /[;\t|]/;

export interface CsvOptions {
  array: InputArray;
  /** Delimiter, a single character. */
  delimiter: string;
}

/** Formats an error of the library without its message, which quotes cells and so user data. */
const formatCsvError = (error: CsvError): string => {
  const line = `line ${error['lines']}`;
  return error.code === 'CSV_MAX_RECORD_SIZE'
    ? `${line}: a row is larger than a request may be; perhaps a quote is not closed`
    : `${line}: a quote is not closed, or is within a cell; perhaps set another delimiter: --delimiter ';'`;
};

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** Removes a byte order mark, because the library would select an encoding from it. */
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

/** Yields the rows of a CSV with a header as objects of one array. The line number of a row is that of its last line. */
export async function* csvRows(
  input: AsyncIterable<Buffer>,
  { array, delimiter }: CsvOptions,
): AsyncGenerator<InputLine, void> {
  // Requests cells as bytes, and decodes them here to detect other encodings.
  const parser = parse({
    delimiter,
    encoding: null,
    info: true,
    max_record_size: MAX_BODY_BYTES,
    relax_column_count: true,
    skip_empty_lines: true,
  });
  const rows: AsyncIterable<{ record: Buffer[]; info: Info }> = Readable.from(withoutMark(input), {
    objectMode: false,
  })
    .on('error', (error) => parser.destroy(error))
    .pipe(parser);
  let toObject: ReturnType<typeof csvColumns> | undefined;
  try {
    for await (const { record, info } of rows) {
      const line = info.lines;
      const cells = record.map(decoded);
      const isText = cells.every((cell) => cell !== null);
      if (toObject) {
        if (!isText) {
          yield { line, array, reason: 'a row must be UTF-8' };
          continue;
        }
        const { object, reason } = toObject(cells);
        yield reason === undefined ? { line, objects: [{ array, object }] } : { line, array, reason, object };
        continue;
      }
      // UTF-16 text contains U+0000.
      if (!isText || cells.some((cell) => cell.includes('\0'))) {
        throw new Error('the header of the CSV is not UTF-8; save the file as CSV UTF-8');
      }
      const [only = ''] = cells;
      if (cells.length === 1 && OTHER_DELIMITER.test(only)) {
        throw new Error(`the header has one column, "${only}"; set the delimiter, such as --delimiter ';'`);
      }
      toObject = csvColumns(cells, array);
    }
  } catch (error) {
    throw error instanceof CsvError ? new Error(formatCsvError(error)) : error;
  }
}
