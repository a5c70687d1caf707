import type { JsonRow } from '../read-row.ts';

/** Row of a file, or invalid line. `line` is `null` if the file has no lines. */
export type FileRow =
  | { names: readonly string[]; row: JsonRow; line: number | null }
  | { reason: string; line: number };

/** Returns the columns to read from the columns of a row. Throws if a required column is missing. */
export type PickColumns = (names: readonly string[]) => readonly string[];
