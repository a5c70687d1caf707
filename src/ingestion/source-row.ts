import { createHash } from 'node:crypto';
import type { Columns } from './columns.ts';
import type { JsonRow } from './read-row.ts';

/** A row with a time and a key. */
export interface SourceRow extends JsonRow {
  /** `UPDATED_AT` in Unix microseconds. */
  us: number;
  /** Sort key within a microsecond: `orderKey`. */
  order: string;
  key: string;
  columns: Columns;
  /** Reject of this row while its line was unreadable; `null` if none. */
  rejectId: string | null;
}

/** A row without a time or a key, with a time in the future, or a line that cannot be read. */
export interface MalformedRow {
  /** Stable across runs. */
  rejectId: string;
  us: number | null;
  key: string | null;
  /** Lookup key of the user that the row identifies; `null` if unknown. */
  userKey: string | null;
  reason: string;
  /** The row as JSON, or the line. */
  payload: string;
}

/** Read position in row order. With `key: null`, the whole microsecond has been read. */
export interface Position {
  /** Unix microseconds. */
  us: number;
  /** `order` of the last row. */
  key: string | null;
}

/** Sorts after all keys, because databases cannot store this character. */
const LAST_CHARACTER = '\u{10ffff}';

/**
 * Returns the key, prefixed with the nanoseconds if there are any. A position has microseconds, so a finer time becomes part of
 * the sort key.
 */
export const orderKey = (nanoseconds: number, key: string): string =>
  nanoseconds === 0 ? key : `${LAST_CHARACTER}${String(nanoseconds).padStart(3, '0')}${key}`;

/** Maximum clock skew. Rows further in the future are rejected, because the watermark would skip all rows before them. */
export const MAX_CLOCK_SKEW_US = 60_000_000;

/** Whether a row comes after a position. Keys compare by bytes, as in the databases. */
export const isAfter = (row: { us: number; order: string }, position: Position | null): boolean => {
  if (position === null || row.us > position.us) return true;
  if (row.us < position.us || position.key === null) return false;
  return Buffer.compare(Buffer.from(row.order), Buffer.from(position.key)) > 0;
};

/** Derives the ID of a row from its position, so that it stays the same after a fix; without a position, from its content. */
export const rejectIdForLine = (line: string | null, payload: string): string =>
  `line:${line ?? createHash('sha256').update(payload).digest('hex').slice(0, 24)}`;

const formatReason = ({ us, key, row, columns }: UnplacedRow): string => {
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
  /** Position in its file; `null` if the source has no lines. */
  line: string | null;
}

/** Returns a malformed row: no time or key, or a time in the future. */
export const malformedRow = (unplaced: UnplacedRow): MalformedRow => {
  const { us, key, row, columns, line } = unplaced;
  const payload = JSON.stringify(row.values);
  return {
    rejectId: rejectIdForLine(line, payload),
    us,
    key,
    userKey: columns.userKeyOf(row.values),
    reason: formatReason(unplaced),
    payload,
  };
};
