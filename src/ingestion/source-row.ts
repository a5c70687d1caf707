import { createHash } from 'node:crypto';
import type { Columns } from './columns.ts';
import type { JsonRow } from './read-row.ts';

/** A row that has a time and a key. */
export interface SourceRow extends JsonRow {
  /** `UPDATED_AT` in Unix microseconds. */
  us: number;
  /** Orders the rows of one microsecond: `orderKey`. */
  order: string;
  key: string;
  columns: Columns;
  /** Reject that the row was while its line could not be read; `null` if it was none. */
  rejectId: string | null;
}

/** A row without a time or a key, with a time in the future, or a line that cannot be read. */
export interface MalformedRow {
  /** The same for the same row in every run. */
  rejectId: string;
  us: number | null;
  key: string | null;
  /** Lookup key of the user whom the row names; `null` if unknown. */
  userKey: string | null;
  reason: string;
  /** The row as JSON, or the line. */
  payload: string;
}

/** How far rows have been read, in their order. With `key: null` everything of this microsecond has been read. */
export interface Position {
  /** Unix microseconds. */
  us: number;
  /** `order` of the last row. */
  key: string | null;
}

/** Sorts after the keys of databases, which hold no such character. */
const LAST_CHARACTER = '\u{10ffff}';

/**
 * Returns the key, behind the nanoseconds if the time has any. A position counts microseconds, so that a finer time is part of what
 * orders the rows within one.
 */
export const orderKey = (nanoseconds: number, key: string): string =>
  nanoseconds === 0 ? key : `${LAST_CHARACTER}${String(nanoseconds).padStart(3, '0')}${key}`;

/** Rows that are further ahead than clocks differ are refused: as the last row read, such a row would hide the others. */
export const MAX_CLOCK_SKEW_US = 60_000_000;

/** Whether a row comes after a position. Keys are in the order of their bytes, as in the databases. */
export const isAfter = (row: { us: number; order: string }, position: Position | null): boolean => {
  if (position === null || row.us > position.us) return true;
  if (row.us < position.us || position.key === null) return false;
  return Buffer.compare(Buffer.from(row.order), Buffer.from(position.key)) > 0;
};

/** The ID of a row by where it is, so that it is the same one once it is mended; without such a place by what it holds. */
export const rejectIdForLine = (line: string | null, payload: string): string =>
  `line:${line ?? createHash('sha256').update(payload).digest('hex').slice(0, 24)}`;

const reasonOf = ({ us, key, row, columns }: UnplacedRow): string => {
  const unreadable = [columns.updatedAt, ...columns.key].find((name) => row.unreadable[name] !== undefined);
  if (unreadable !== undefined) return `${unreadable} ${row.unreadable[unreadable]}`;
  if (us === null) return `The row has no ${columns.updatedAt}, or one that is not a time`;
  return key === null
    ? `The row has no ${columns.key.join(' or no ')}, or a key of more than 2,000 bytes`
    : `${columns.updatedAt} is in the future`;
};

interface UnplacedRow {
  us: number | null;
  key: string | null;
  row: JsonRow;
  columns: Columns;
  /** Where it is in its file; `null` if the source has no lines. */
  line: string | null;
}

/** A row without a time or a key, or with a time ahead. */
export const malformedRow = (unplaced: UnplacedRow): MalformedRow => {
  const { us, key, row, columns, line } = unplaced;
  const payload = JSON.stringify(row.values);
  return {
    rejectId: rejectIdForLine(line, payload),
    us,
    key,
    userKey: columns.userKeyOf(row.values),
    reason: reasonOf(unplaced),
    payload,
  };
};
