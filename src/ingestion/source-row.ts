import { createHash } from 'node:crypto';
import type { Columns } from './columns.ts';

/** A row that has a time and a key. */
export interface SourceRow {
  /** `UPDATED_AT` in Unix microseconds. */
  us: number;
  key: string;
  values: Record<string, unknown>;
  /** How the values make an object of a request. */
  columns: Columns;
  /** The reject that the row was, where its line could not be read before. */
  rejectId: string | null;
}

/** A row without a time or a key, with a time in the future, or a line that cannot be read. */
export interface UnusableRow {
  /** The same for the same row in every run. */
  rejectId: string;
  us: number | null;
  key: string | null;
  externalId: string | null;
  reason: string;
  /** The row as JSON, or the line. */
  payload: string;
}

/** How far rows have been read, in the order of time and key. With `key: null` everything of this time has been read. */
export interface Position {
  /** Unix microseconds. */
  us: number;
  key: string | null;
}

/** Rows that are further ahead than clocks differ are refused: as the last row read, such a row would hide the others. */
export const FUTURE_US = 60_000_000;

/** Whether a row comes after a position. Keys are in the order of their bytes, as in the databases. */
export const isAfter = (row: { us: number; key: string }, position: Position | null): boolean => {
  if (position === null || row.us > position.us) return true;
  if (row.us < position.us || position.key === null) return false;
  return Buffer.compare(Buffer.from(row.key), Buffer.from(position.key)) > 0;
};

/** The ID of a row by where it is, so that it is the same one once it is mended; without such a place by what it holds. */
export const lineId = (line: string | null, payload: string): string =>
  `line:${line ?? createHash('sha256').update(payload).digest('hex').slice(0, 24)}`;

/** JSON has no 64-bit integers. */
const asJson = (_: string, value: unknown): unknown => {
  if (typeof value !== 'bigint') return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
};

export const payloadOf = (values: Record<string, unknown>): string => JSON.stringify(values, asJson);

const reasonOf = (us: number | null, key: string | null, columns: Columns): string => {
  if (us === null) return 'The row has no UPDATED_AT, or one that is no time';
  return key === null
    ? `The row has no ${columns.key.join(' or no ')}, or a key of more than 2,000 bytes`
    : 'UPDATED_AT is in the future';
};

/** A row without a time or a key, or with a time ahead. `line` is where it is in its file. */
export const unusableRow = (row: {
  us: number | null;
  key: string | null;
  values: Record<string, unknown>;
  columns: Columns;
  line: string | null;
}): UnusableRow => {
  const { us, key, values, columns, line } = row;
  const payload = payloadOf(values);
  const externalId = columns.externalIdOf(values);
  return {
    rejectId: lineId(line, payload),
    us,
    key,
    externalId,
    reason: reasonOf(us, key, columns),
    payload,
  };
};
