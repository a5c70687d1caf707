import type { JsonRow } from '../read-row.ts';

/** A row of a file, or an invalid line. `line` is `null` if the file has no lines. */
export type FileRow =
  | { names: readonly string[]; row: JsonRow; line: number | null }
  | { reason: string; line: number };

/** Selects the columns to read from those of a row. Throws if the source cannot be read with them. */
export type PickColumns = (names: readonly string[]) => readonly string[];
