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
