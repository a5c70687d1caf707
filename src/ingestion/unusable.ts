import { createHash } from 'node:crypto';
import type { Columns } from './columns.ts';
import type { UnusableRow } from './source.ts';

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
