import { createHash, hash } from 'node:crypto';
import type { BatchRecord, Source } from '../service/index.ts';
import type { RowMapping } from './columns.ts';
import type { JsonRow } from './read-row.ts';

/** Row with a time and a key. */
export interface SourceRow extends JsonRow {
  /** `UPDATED_AT` in Unix microseconds. */
  timeUs: number;
  /** Sort key within a microsecond, from `toSortKey`. */
  sortKey: string;
  key: string;
  mapping: RowMapping;
  /** ID of the reject created when the row's line was unreadable; `null` if none. */
  rejectId: string | null;
}

/** Row without a time or a key, row with a time in the future, or unreadable line. */
export interface MalformedRow {
  /** ID of the reject, stable across runs. */
  rejectId: string;
  timeUs: number | null;
  key: string | null;
  /** Identifier of the row's user; `null` if unknown. */
  userIdentifier: string | null;
  reason: string;
  /** Row as JSON, or line. */
  payload: string;
}

/** Place of the last row read. With `sortKey: null`, all rows of the microsecond count as read. */
export interface Position {
  /** Unix microseconds. */
  timeUs: number;
  /** `sortKey` of the last row. */
  sortKey: string | null;
}

/** Formats a position as a key of a map. */
export const formatPosition = ({ timeUs, sortKey }: Position): string => `${timeUs} ${sortKey}`;

/** Character that sorts after all keys. */
const LAST_CHARACTER = '\u{10ffff}';

/**
 * Returns the key, prefixed with the nanoseconds if not zero. Positions have microsecond precision, so a finer time becomes part
 * of the sort key.
 */
export const toSortKey = (nanoseconds: number, key: string): string =>
  nanoseconds === 0 ? key : `${LAST_CHARACTER}${String(nanoseconds).padStart(3, '0')}${key}`;

/** Maximum clock skew. Later rows are rejected, because a watermark in the future would skip all rows before it. */
export const MAX_CLOCK_SKEW_US = 60_000_000;

/** Returns whether a row comes after a position. Compares keys by bytes, like the databases. */
export const isAfter = (row: { timeUs: number; sortKey: string }, position: Position | null): boolean => {
  if (position === null || row.timeUs > position.timeUs) return true;
  if (row.timeUs < position.timeUs || position.sortKey === null) return false;
  return Buffer.compare(Buffer.from(row.sortKey), Buffer.from(position.sortKey)) > 0;
};

/** Returns a hash of the values of a row. */
export const hashRow = ({ values }: JsonRow): string =>
  hash('sha256', JSON.stringify(values), 'base64url').slice(0, 22);

/**
 * Returns the identity of a row within the lookback. Attributes are compared by their values, too, because a user may change twice
 * within the resolution of `UPDATED_AT`, such as a day.
 */
export const toStoredRow = (row: SourceRow, rowType: Source['rows']): BatchRecord['storedRows'][number] =>
  rowType === 'attributes' ? [row.timeUs, row.sortKey, hashRow(row)] : [row.timeUs, row.sortKey];

/** Derives a reject ID from the row's line, so that it is stable after a fix, or from its content if the source has no lines. */
export const rejectIdForLine = (lineId: string | null, payload: string): string =>
  `line:${lineId ?? createHash('sha256').update(payload).digest('hex').slice(0, 24)}`;

const formatReason = ({ timeUs, key, row, mapping }: UnplacedRow): string => {
  const unreadable = [mapping.updatedAt, ...mapping.key].find((name) => row.unreadable[name] !== undefined);
  if (unreadable !== undefined) return `${unreadable} ${row.unreadable[unreadable]}`;
  if (timeUs === null) return `The row has no ${mapping.updatedAt}, or one that is not a time`;
  return key === null
    ? `The row has no ${mapping.key.join(' or no ')}, or a key of more than 2,000 bytes`
    : `${mapping.updatedAt} is in the future`;
};

interface UnplacedRow {
  timeUs: number | null;
  key: string | null;
  row: JsonRow;
  mapping: RowMapping;
  /** Position in its file; `null` if the source has no lines. */
  lineId: string | null;
}

/** Creates a malformed row, which has no time, no key, or a time in the future. */
export const malformedRow = (unplaced: UnplacedRow): MalformedRow => {
  const { timeUs, key, row, mapping, lineId } = unplaced;
  const payload = JSON.stringify(row.values);
  return {
    rejectId: rejectIdForLine(lineId, payload),
    timeUs,
    key,
    userIdentifier: mapping.getUserIdentifier(row.values),
    reason: formatReason(unplaced),
    payload,
  };
};
