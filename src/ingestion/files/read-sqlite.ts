import { DatabaseSync } from 'node:sqlite';
import { type ReadValue, readBytes, readDouble, readInteger, readText } from '../json-value.ts';
import { readRow } from '../read-row.ts';
import type { FileRow, PickColumns } from './file-row.ts';

const quote = (name: string) => `"${name.replaceAll('"', '""')}"`;

/**
 * Returns the SQL of a column that selects text as bytes, because the driver replaces invalid UTF-8, which would make different
 * values equal. It selects a BLOB as hexadecimal text, so that the JavaScript types differ.
 */
const select = (name: string): string => {
  const column = quote(name);
  return `CASE typeof(${column}) WHEN 'text' THEN CAST(${column} AS BLOB) WHEN 'blob' THEN hex(${column}) ELSE ${column} END`;
};

const createReader =
  (decoder: TextDecoder): ReadValue =>
  (value) => {
    if (value instanceof Uint8Array) return readText(value, decoder);
    if (typeof value === 'string') return readBytes(Buffer.from(value, 'hex'));
    return typeof value === 'bigint' ? readInteger(value) : readDouble(Number(value));
  };

/** Reads the rows of a table or view. `pick` selects columns by name. */
export function* readSqlite(path: string, table: string, pick: PickColumns): Generator<FileRow, void> {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const all = database.prepare(`SELECT * FROM ${quote(table)}`);
    const names = all.columns().map(({ name }) => name);
    const picked = pick(names);
    const encoding = String(database.prepare('PRAGMA encoding').get()!['encoding']);
    const read = createReader(new TextDecoder(encoding, { fatal: true, ignoreBOM: true }));
    const columns = picked.map((name) => ({ name, read }));
    // Reads with one statement, so that all rows come from the same snapshot.
    const rows = database.prepare(`SELECT ${picked.map(select).join(', ')} FROM ${quote(table)}`);
    // Without BigInt, the driver throws for integers beyond 2^53.
    rows.setReadBigInts(true);
    rows.setReturnArrays(true);
    for (const cells of rows.iterate()) {
      yield { names, row: readRow(columns, Object.values(cells)), line: null };
    }
  } finally {
    database.close();
  }
}
